//! Lenient reading of JSON: an unexpected type in a field that isn't needed must not make the reply
//! unusable. Such fields stay raw, and nothing is parsed into a general JSON value, which would
//! take many times the memory of the text.

use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, SeqAccess, Visitor};
use serde_json::error::Category;
use serde_json::value::RawValue;

use super::errors::invalid;
use super::excerpt::{Secrets, is_html};
use crate::{FinishReason, LlmError, LlmErrorKind};

/// Parses a JSON object.
pub(crate) fn object(text: &str) -> Option<&RawValue> {
    serde_json::from_str::<&RawValue>(text)
        .ok()
        .filter(|value| value.get().starts_with('{'))
}

/// Parses the JSON Schema of a reply format.
pub(crate) fn schema(schema: &str) -> Result<&RawValue, LlmError> {
    object(schema).ok_or_else(|| {
        invalid("the schema of the reply format isn't a JSON object; expected a JSON Schema")
    })
}

/// Serializes the body of a request.
pub(crate) fn to_bytes(body: &impl serde::Serialize) -> Result<Vec<u8>, LlmError> {
    serde_json::to_vec(body).map_err(unwritable)
}

/// Serializes a part of a request that is embedded as a JSON string.
pub(crate) fn to_text(part: &impl serde::Serialize) -> Result<String, LlmError> {
    serde_json::to_string(part).map_err(unwritable)
}

fn unwritable(error: serde_json::Error) -> LlmError {
    invalid("the request cannot be serialized as JSON").with_source(error)
}

/// Parses a body.
pub(crate) fn read<'a, T: Deserialize<'a>>(
    wanted: &str,
    body: &'a [u8],
    secrets: &Secrets,
) -> Result<T, LlmError> {
    serde_json::from_slice(body).map_err(|error| {
        LlmError::new(
            LlmErrorKind::Decode,
            complaint(wanted, body, &error, secrets),
        )
    })
}

/// Returns the error for a body that isn't a valid `wanted`. serde_json quotes what it found, so
/// its message is redacted too, and the error cannot be used as a source.
fn complaint(wanted: &str, body: &[u8], error: &serde_json::Error, secrets: &Secrets) -> String {
    if is_html(&String::from_utf8_lossy(body.get(..100).unwrap_or(body))) {
        return "the response is an HTML page; expected JSON".to_owned();
    }
    match error.classify() {
        Category::Eof if body.is_empty() => "the response is empty; expected JSON".to_owned(),
        Category::Eof => {
            format!(
                "the response ends in the middle of its JSON: {}",
                secrets.line(&error.to_string())
            )
        }
        Category::Data => format!(
            "the response is not a valid {wanted}: {}",
            secrets.line(&error.to_string())
        ),
        Category::Syntax | Category::Io => {
            format!(
                "the response is not JSON: {}",
                secrets.line(&error.to_string())
            )
        }
    }
}

/// Reads a finish reason of OpenAI, Anthropic, Google, Mistral or servers of open models.
pub(crate) fn finish_reason(reason: String) -> FinishReason {
    match reason.to_ascii_lowercase().as_str() {
        "stop" | "end_turn" | "eos" | "stop_sequence" | "" => FinishReason::Stop,
        "length"
        | "max_tokens"
        | "max_output_tokens"
        | "model_length"
        | "model_context_window_exceeded" => FinishReason::Length,
        "tool_calls" | "function_call" | "tool_use" => FinishReason::ToolCalls,
        "content_filter" | "safety" | "refusal" => FinishReason::ContentFilter,
        _ => FinishReason::Other(reason),
    }
}

/// Returns the text if the value is a non-empty string.
pub(crate) fn text(raw: Option<&RawValue>) -> Option<String> {
    raw.and_then(parse::<String>)
        .filter(|text| !text.is_empty())
}

/// Reads a token count. Some servers write `12.0`; a negative count is read as 0.
pub(crate) fn count(raw: &RawValue) -> Option<u64> {
    parse::<u64>(raw).or_else(|| parse::<f64>(raw).map(|count| count as u64))
}

pub(crate) fn parse<'a, T: Deserialize<'a>>(raw: &'a RawValue) -> Option<T> {
    serde_json::from_str(raw.get()).ok()
}

/// Parses an object. Without this check, serde would also read an array into the struct, field by
/// field.
pub(crate) fn parse_object<'a, T: Deserialize<'a>>(raw: &'a RawValue) -> Option<T> {
    raw.get().starts_with('{').then(|| parse(raw)).flatten()
}

/// The first elements of an array, at most `N`. The others are skipped, not kept.
pub(crate) struct First<T, const N: usize>(pub(crate) Vec<T>);

impl<'de, T: Deserialize<'de>, const N: usize> Deserialize<'de> for First<T, N> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Elements<T, const N: usize>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>, const N: usize> Visitor<'de> for Elements<T, N> {
            type Value = First<T, N>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an array")
            }

            fn visit_seq<A: SeqAccess<'de>>(
                self,
                mut elements: A,
            ) -> Result<Self::Value, A::Error> {
                let mut first = Vec::new();
                while first.len() < N {
                    let Some(element) = elements.next_element()? else {
                        return Ok(First(first));
                    };

                    first.push(element);
                }

                while elements.next_element::<IgnoredAny>()?.is_some() {}
                Ok(First(first))
            }
        }

        deserializer.deserialize_seq(Elements::<T, N>(PhantomData))
    }
}

/// The text of a message: a string, or the concatenated text of an array of parts. `None` if no
/// part has text.
pub(crate) struct Content(pub(crate) Option<String>);

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextOrParts;

        impl<'de> Visitor<'de> for TextOrParts {
            type Value = Content;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("text or an array of parts")
            }

            fn visit_str<E>(self, text: &str) -> Result<Content, E> {
                Ok(Content(Some(text.to_owned())))
            }

            fn visit_string<E>(self, text: String) -> Result<Content, E> {
                Ok(Content(Some(text)))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut parts: A) -> Result<Content, A::Error> {
                let Some(first) = parts.next_element::<&RawValue>()? else {
                    return Ok(Content(Some(String::new())));
                };

                let mut whole = text_of(first);
                while let Some(part) = parts.next_element::<&RawValue>()? {
                    if let Some(text) = text_of(part) {
                        whole.get_or_insert_default().push_str(&text);
                    }
                }

                Ok(Content(whole))
            }
        }

        deserializer.deserialize_any(TextOrParts)
    }
}

/// Returns the text of a part: a string, or the field `text` or `text.value`. Other parts, such as
/// images or reasoning, have none.
fn text_of(part: &RawValue) -> Option<String> {
    #[derive(Default, Deserialize)]
    #[serde(default, bound(deserialize = "'de: 'a"))]
    struct Part<'a> {
        text: Option<&'a RawValue>,
    }

    #[derive(Deserialize)]
    struct Annotated {
        value: String,
    }

    parse::<String>(part).or_else(|| {
        let text = parse_object::<Part<'_>>(part)?.text?;
        parse::<String>(text).or_else(|| Some(parse_object::<Annotated>(text)?.value))
    })
}
