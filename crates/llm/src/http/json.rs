//! Reading JSON that is only nearly what was asked for: a field of an unexpected type that nobody
//! needs must not cost the reply. So everything that is not needed stays raw, and nothing is read
//! into a general JSON value, which would take many times the room of the text.

use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, SeqAccess, Visitor};
use serde_json::error::Category;
use serde_json::value::RawValue;

use super::errors::invalid;
use super::excerpt::{Secrets, is_html};
use crate::{FinishReason, LlmError, LlmErrorKind};

/// A JSON object, which is text so far.
pub(crate) fn object(text: &str) -> Option<&RawValue> {
    serde_json::from_str::<&RawValue>(text)
        .ok()
        .filter(|value| value.get().starts_with('{'))
}

/// The JSON Schema of a reply's format.
pub(crate) fn schema(schema: &str) -> Result<&RawValue, LlmError> {
    object(schema).ok_or_else(|| {
        invalid("the schema of the reply's format is no JSON object; expected a JSON Schema")
    })
}

/// The body of a request as bytes.
pub(crate) fn to_bytes(body: &impl serde::Serialize) -> Result<Vec<u8>, LlmError> {
    serde_json::to_vec(body).map_err(unwritable)
}

/// A part of a request that is a text of JSON itself.
pub(crate) fn to_text(part: &impl serde::Serialize) -> Result<String, LlmError> {
    serde_json::to_string(part).map_err(unwritable)
}

fn unwritable(error: serde_json::Error) -> LlmError {
    invalid("the request does not go into JSON").with_source(error)
}

/// Reads a body, or says what is wrong with it.
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

/// What is wrong with a body that is no `wanted`. serde_json quotes what it found, so its
/// words pass the door too, and it cannot serve as a source.
fn complaint(wanted: &str, body: &[u8], error: &serde_json::Error, secrets: &Secrets) -> String {
    if is_html(&String::from_utf8_lossy(body.get(..100).unwrap_or(body))) {
        return "the answer is an HTML page; expected JSON".to_owned();
    }
    match error.classify() {
        Category::Eof if body.is_empty() => "the answer is empty; expected JSON".to_owned(),
        Category::Eof => {
            format!(
                "the answer ends in the middle of its JSON: {}",
                secrets.line(&error.to_string())
            )
        }
        Category::Data => format!(
            "the answer is no {wanted}: {}",
            secrets.line(&error.to_string())
        ),
        Category::Syntax | Category::Io => {
            format!(
                "the answer is not JSON: {}",
                secrets.line(&error.to_string())
            )
        }
    }
}

/// In any of the words of OpenAI, Anthropic, Google, Mistral and the servers of open models.
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

/// The text, if it is one and not empty.
pub(crate) fn text(raw: Option<&RawValue>) -> Option<String> {
    raw.and_then(parse::<String>)
        .filter(|text| !text.is_empty())
}

/// A count of tokens, from servers that write `12.0` too. A negative one counts as 0.
pub(crate) fn count(raw: &RawValue) -> Option<u64> {
    parse::<u64>(raw).or_else(|| parse::<f64>(raw).map(|count| count as u64))
}

pub(crate) fn parse<'a, T: Deserialize<'a>>(raw: &'a RawValue) -> Option<T> {
    serde_json::from_str(raw.get()).ok()
}

/// serde reads an array into a struct too, field by field, and what it finds there is chance.
pub(crate) fn parse_object<'a, T: Deserialize<'a>>(raw: &'a RawValue) -> Option<T> {
    raw.get().starts_with('{').then(|| parse(raw)).flatten()
}

/// The first elements of an array, at most `N`. The others are passed over, not kept.
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

/// The text of a message: a text, or an array of parts, of which those with text count. None where
/// there are parts and none of them has text.
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

/// The text of a part: itself, or under `text`, or under `text.value`. A part of another kind (an
/// image, reasoning) has none.
fn text_of(part: &RawValue) -> Option<String> {
    #[derive(Deserialize)]
    struct Part<'a> {
        #[serde(borrow, default)]
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
