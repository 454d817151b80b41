use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, SeqAccess, Visitor};
use serde_json::error::Category;
use serde_json::value::RawValue;

use super::excerpt::{Secrets, is_html};
use super::exchange::Answer;
use super::failure;
use crate::{ChatResponse, FinishReason, LlmError, LlmErrorKind, Usage};

/// Only what is needed is typed, and what is not needed is raw: a field of an unexpected type
/// that nobody asked for must not cost the reply. Nothing is read into a general JSON value,
/// which would take many times the room of the text.
#[derive(Deserialize)]
struct Completion<'a> {
    #[serde(borrow, default)]
    error: Option<&'a RawValue>,
    #[serde(borrow, default)]
    choices: Option<First<Choice<'a>>>,
    #[serde(borrow, default)]
    usage: Option<&'a RawValue>,
    #[serde(borrow, default)]
    model: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Choice<'a> {
    #[serde(borrow, default)]
    message: Option<ChoiceMessage<'a>>,
    /// Where servers of plain completions put the reply.
    #[serde(default)]
    text: Option<Content>,
    #[serde(borrow, default)]
    finish_reason: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct ChoiceMessage<'a> {
    #[serde(default)]
    content: Option<Content>,
    #[serde(borrow, default)]
    refusal: Option<&'a RawValue>,
}

/// Reads an answer with a good status.
pub(super) fn decode(answer: &Answer, secrets: &Secrets) -> Result<ChatResponse, LlmError> {
    read(&answer.body, secrets)
        .map_err(|error| error.with_status(answer.status).with_body(secrets.body(&answer.body)))
}

fn read(body: &[u8], secrets: &Secrets) -> Result<ChatResponse, LlmError> {
    let wrong = |message: String| LlmError::new(LlmErrorKind::Decode, message);
    let completion: Completion<'_> =
        serde_json::from_slice(body).map_err(|error| wrong(complaint(body, &error, secrets)))?;
    if let Some(error) = completion.error.filter(|error| !failure::says_nothing(error)) {
        return Err(failure::of_value(error, secrets));
    }
    let choice = completion.choices.and_then(|choices| choices.0);
    let choice =
        choice.ok_or_else(|| wrong("the answer has no choices; expected at least one".to_owned()))?;
    if choice.message.is_none() && choice.text.is_none() {
        return Err(wrong("choices[0] is empty; expected a message or text".to_owned()));
    }
    let reason = choice.finish_reason.and_then(parse::<String>).map(finish_reason).unwrap_or_default();
    let (content, refusal) =
        choice.message.map_or((None, None), |message| (message.content, message.refusal));
    let has_content = content.is_some() || choice.text.is_some();
    let text = [content, choice.text].into_iter().flatten().find_map(|content| content.0);
    if let Some(refusal) = refusal.and_then(parse::<String>).filter(|refusal| !refusal.is_empty())
        && text.as_deref().unwrap_or_default().is_empty()
    {
        let message = format!("the model refuses: {}", secrets.line(&refusal));
        return Err(LlmError::new(LlmErrorKind::ContentFilter, message));
    }
    // A reply that is cut off before its first text, as within the reasoning, says so itself.
    if has_content && text.is_none() && reason != FinishReason::Length {
        return Err(wrong(
            "choices[0] has content without text; expected text in at least one part".to_owned(),
        ));
    }
    let mut response = ChatResponse::new(text.unwrap_or_default()).with_finish_reason(reason);
    if let Some(usage) = completion.usage.and_then(usage) {
        response = response.with_usage(usage);
    }
    if let Some(model) = completion.model.and_then(parse::<String>) {
        response = response.with_model(model);
    }
    Ok(response)
}

/// What is wrong with a body that is no chat completion. serde_json quotes what it found, so its
/// words pass the door too, and it cannot serve as a source.
fn complaint(body: &[u8], error: &serde_json::Error, secrets: &Secrets) -> String {
    if is_html(&String::from_utf8_lossy(body.get(..100).unwrap_or(body))) {
        return "the answer is an HTML page; expected JSON".to_owned();
    }
    match error.classify() {
        Category::Eof if body.is_empty() => "the answer is empty; expected JSON".to_owned(),
        Category::Eof => {
            format!("the answer ends in the middle of its JSON: {}", secrets.line(&error.to_string()))
        }
        Category::Data => format!("the answer is no chat completion: {}", secrets.line(&error.to_string())),
        Category::Syntax | Category::Io => {
            format!("the answer is not JSON: {}", secrets.line(&error.to_string()))
        }
    }
}

/// In any of the words of OpenAI, Anthropic, Google, Mistral and the servers of open models.
fn finish_reason(reason: String) -> FinishReason {
    match reason.to_ascii_lowercase().as_str() {
        "stop" | "end_turn" | "eos" | "stop_sequence" | "" => FinishReason::Stop,
        "length" | "max_tokens" | "max_output_tokens" | "model_length" => FinishReason::Length,
        "content_filter" | "safety" => FinishReason::ContentFilter,
        _ => FinishReason::Other(reason),
    }
}

/// Whatever numbers there are. None where there is none.
fn usage(raw: &RawValue) -> Option<Usage> {
    #[derive(Deserialize)]
    struct Wire<'a> {
        #[serde(borrow, default)]
        prompt_tokens: Option<&'a RawValue>,
        #[serde(borrow, default)]
        completion_tokens: Option<&'a RawValue>,
        #[serde(borrow, default)]
        prompt_tokens_details: Option<&'a RawValue>,
    }
    #[derive(Deserialize)]
    struct Details<'a> {
        #[serde(borrow, default)]
        cached_tokens: Option<&'a RawValue>,
    }
    let wire: Wire<'_> = parse_object(raw)?;
    let (prompt, completion) = (wire.prompt_tokens.and_then(count), wire.completion_tokens.and_then(count));
    if prompt.is_none() && completion.is_none() {
        return None;
    }
    let details: Option<Details<'_>> = wire.prompt_tokens_details.and_then(parse_object);
    let cached = details.and_then(|details| details.cached_tokens).and_then(count);
    Some(
        Usage::new(prompt.unwrap_or_default(), completion.unwrap_or_default())
            .with_cached_tokens(cached.unwrap_or_default()),
    )
}

/// A count of tokens, from servers that write `12.0` too. A negative one counts as 0.
fn count(raw: &RawValue) -> Option<u64> {
    parse::<u64>(raw).or_else(|| parse::<f64>(raw).map(|count| count as u64))
}

fn parse<'a, T: Deserialize<'a>>(raw: &'a RawValue) -> Option<T> {
    serde_json::from_str(raw.get()).ok()
}

/// serde reads an array into a struct too, field by field, and what it finds there is chance.
fn parse_object<'a, T: Deserialize<'a>>(raw: &'a RawValue) -> Option<T> {
    raw.get().starts_with('{').then(|| parse(raw)).flatten()
}

/// The first element of an array, if it has one. The others are passed over, not kept.
struct First<T>(Option<T>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for First<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Elements<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for Elements<T> {
            type Value = First<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an array of choices")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Self::Value, A::Error> {
                let first = elements.next_element()?;
                while elements.next_element::<IgnoredAny>()?.is_some() {}
                Ok(First(first))
            }
        }

        deserializer.deserialize_seq(Elements(PhantomData))
    }
}

/// The text of a message: a text, or an array of parts, of which those with text count. None where
/// there are parts and none of them has text.
struct Content(Option<String>);

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
