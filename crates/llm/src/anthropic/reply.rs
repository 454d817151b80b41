//! Reads replies of Anthropic's Messages API, complete and in pieces.

use std::collections::BTreeMap;
use std::mem;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

use crate::wire::provider_data::unbound;
use crate::wire::{Added, Assembly, RawFields, count, finish_reason, text, unreadable};
use crate::{ChatResponse, Delta, FinishReason, LlmError, LlmErrorKind, ToolCall, Usage};

/// How many blocks may grow at the same time.
const OPEN_BLOCKS: usize = 64;

/// Reads a complete message.
pub(super) fn decode(message: &Value, body: &[u8]) -> Result<ChatResponse, LlmError> {
    #[derive(Deserialize)]
    struct Raw {
        content: Vec<Box<RawValue>>,
    }

    let raw: Raw = serde_json::from_slice(body)
        .map_err(|_| unreadable("the response has no content; expected an array of blocks"))?;
    read(message, &raw.content)
}

/// Reads a message with these blocks, which are unparsed, so that they can go back to the server
/// exactly as they were received.
fn read(message: &Value, blocks: &[Box<RawValue>]) -> Result<ChatResponse, LlmError> {
    let mut said = String::new();
    let mut reasoning = String::new();
    let mut calls = Vec::new();
    let mut says_more = false;

    for raw in blocks {
        let block: Value = serde_json::from_str(raw.get()).unwrap_or_default();
        said.push_str(&text(&block, "/text").unwrap_or_default());
        reasoning.push_str(&text(&block, "/thinking").unwrap_or_default());
        match text(&block, "/type").as_deref() {
            Some("tool_use") => calls.push(call(&block, raw)),
            Some("text") => says_more |= block.get("citations").is_some_and(|list| !list.is_null()),
            // Thinking, and kinds of blocks that came later than this code.
            _ => says_more = true,
        }
    }

    let reason = finish_reason(&text(message, "/stop_reason").unwrap_or_default());
    if reason == FinishReason::ContentFilter && calls.is_empty() {
        return Err(refused(message).with_text_so_far(said));
    }

    // Messages of text and calls are written from these.
    let data = says_more.then(|| serde_json::to_string(blocks));
    Ok(ChatResponse {
        text: said,
        finish_reason: reason,
        reasoning: Some(reasoning).filter(|text| !text.is_empty()),
        tool_calls: calls,
        usage: usage(message),
        model: text(message, "/model"),
        id: text(message, "/id"),
        provider_data: data.and_then(Result::ok).map(unbound),
        ..ChatResponse::default()
    })
}

/// Returns the call of a block, with its input as it was received: the order of fields matters.
fn call(block: &Value, raw: &RawValue) -> ToolCall {
    let fields: RawFields = serde_json::from_str(raw.get()).unwrap_or_default();
    let input = match block.get("input") {
        None | Some(Value::Null) => "",
        Some(Value::String(text)) => text,
        Some(_) => fields.get("input").map(|raw| raw.get()).unwrap_or_default(),
    };
    let field = |pointer| text(block, pointer).unwrap_or_default();

    ToolCall::new(field("/id"), field("/name"), input)
}

fn refused(message: &Value) -> LlmError {
    let detail = |pointer| text(message, pointer);
    let category = detail("/stop_details/category");
    let message = match (category, detail("/stop_details/explanation")) {
        (None, None) => "the model refused without a reason".to_owned(),
        (Some(why), None) | (None, Some(why)) => format!("the model refused: {why}"),
        (Some(category), Some(why)) => format!("the model refused ({category}): {why}"),
    };

    LlmError::new(LlmErrorKind::ContentFilter, message)
}

/// Returns the token counts, of which the server counts cached tokens of the prompt separately.
fn usage(message: &Value) -> Option<Usage> {
    let counted = |name: &str| count(message, &format!("/usage/{name}"));
    let input = counted("input_tokens");
    let output = counted("output_tokens");
    input.or(output)?;

    let written = counted("cache_creation_input_tokens").unwrap_or_default();
    let cached = counted("cache_read_input_tokens").unwrap_or_default();
    let thinking = counted("output_tokens_details/thinking_tokens");
    let prompt = input.unwrap_or_default().saturating_add(written);
    Some(Usage {
        prompt_tokens: prompt.saturating_add(cached),
        completion_tokens: output.unwrap_or_default(),
        cached_tokens: cached,
        cache_written_tokens: written,
        reasoning_tokens: thinking.unwrap_or_default(),
    })
}

/// A stream, which is put together to one message.
#[derive(Default)]
pub(super) struct Pieces {
    blocks: Vec<Block>,
    /// Everything but the blocks.
    message: Value,
    /// Whether a piece was of an unknown kind, so that the blocks can't go back to the server.
    is_incomplete: bool,
}

#[derive(Default)]
struct Block {
    index: Option<u64>,
    /// The fields at the beginning.
    fields: RawFields,
    /// What was appended to the fields, and the name of the piece that it came in.
    grown: BTreeMap<&'static str, String>,
    citations: Vec<Value>,
}

/// The fields of blocks that grow, and their names in the pieces.
const GROWING: [(&str, &str); 4] = [
    ("text", "text"),
    ("thinking", "thinking"),
    ("signature", "signature"),
    ("input", "partial_json"),
];

impl Pieces {
    fn start(&mut self, event: &Value, received: &str) {
        #[derive(Deserialize)]
        struct Start {
            content_block: RawFields,
        }

        let start = serde_json::from_str(received).map(|Start { content_block }| content_block);
        self.is_incomplete |= start.is_err();
        self.blocks.push(Block {
            index: count(event, "/index"),
            fields: start.unwrap_or_default(),
            ..Block::default()
        });
    }

    fn grow(&mut self, event: &Value, delta: &Value) {
        let index = count(event, "/index");
        let mut latest = self.blocks.iter_mut().rev().take(OPEN_BLOCKS);
        let open = latest.find(|block| index.is_none() || block.index == index);
        let Some(block) = open else {
            self.is_incomplete = true;
            // The beginning of the block is missing, but what it says is still of use.
            self.blocks.push(Block::default());
            return self.grow(&Value::Null, delta);
        };

        for (field, name) in GROWING {
            if let Some(more) = delta.get(name).and_then(Value::as_str) {
                block.grown.entry(field).or_default().push_str(more);
            }
        }
        match text(delta, "/type").as_deref() {
            Some("text_delta" | "thinking_delta" | "signature_delta" | "input_json_delta")
            | None => {}
            Some("citations_delta") => {
                block.citations.extend(delta.get("citation").cloned());
            }
            Some(_) => self.is_incomplete = true,
        }
    }
}

impl Block {
    /// Returns the block as it would be in a complete message.
    fn whole(mut self, is_incomplete: &mut bool) -> Result<Box<RawValue>, serde_json::Error> {
        for (name, more) in self.grown {
            let begun = self.fields.get(name);
            let begun = begun.and_then(|raw| serde_json::from_str(raw.get()).ok());
            let begun: String = begun.unwrap_or_default();
            let input = RawValue::from_string(more.clone()).ok();
            let whole = match (name, input) {
                ("input", Some(input)) => input,
                (name, _) => {
                    // Input that isn't JSON goes to the caller as a text, and not back to the
                    // server.
                    *is_incomplete |= name == "input";
                    to_raw_value(&format!("{begun}{more}"))?
                }
            };
            self.fields.insert(name.to_owned(), whole);
        }
        if !self.citations.is_empty() {
            let citations = to_raw_value(&self.citations)?;
            self.fields.insert("citations".to_owned(), citations);
        }

        to_raw_value(&self.fields)
    }
}

/// Replaces the fields that have a newer value.
fn update(known: &mut Value, newer: &Value) {
    match (known, newer) {
        (Value::Object(known), Value::Object(newer)) => {
            for (name, value) in newer.iter().filter(|(_, value)| !value.is_null()) {
                update(known.entry(name.as_str()).or_insert(Value::Null), value);
            }
        }
        (_, Value::Null) => {}
        (known, newer) => *known = newer.clone(),
    }
}

impl Assembly for Pieces {
    fn add(&mut self, kind: &str, event: &Value, received: &str) -> Added {
        let nothing = Value::Null;
        let piece = match kind {
            "content_block_start" => {
                self.start(event, received);
                event.get("content_block").unwrap_or(&nothing)
            }
            "content_block_delta" => {
                let delta = event.get("delta").unwrap_or(&nothing);
                self.grow(event, delta);
                delta
            }
            "message_start" => {
                update(&mut self.message, event.get("message").unwrap_or(&nothing));
                &nothing
            }
            "message_delta" => {
                update(&mut self.message, event.get("delta").unwrap_or(&nothing));
                // The event has the usage beside the delta, but the message has it inside.
                let usage = serde_json::json!({"usage": event.get("usage")});
                update(&mut self.message, &usage);
                &nothing
            }
            "message_stop" => return Ok(None),
            // Pings and future events; the API's versioning policy allows new ones.
            _ => &nothing,
        };

        let thinking = text(piece, "/thinking").map(Delta::Reasoning);
        let text = text(piece, "/text").map(Delta::Text);
        Ok(Some(thinking.into_iter().chain(text).collect()))
    }

    fn whole(&mut self) -> Result<ChatResponse, LlmError> {
        let blocks = mem::take(&mut self.blocks).into_iter();
        let blocks: Result<Vec<_>, _> = blocks
            .map(|block| block.whole(&mut self.is_incomplete))
            .collect();
        let blocks = blocks.map_err(|_| unreadable("a block of the reply isn't JSON"))?;

        let response = read(&self.message, &blocks)?;
        Ok(match self.is_incomplete {
            true => response.without_provider_data(),
            false => response,
        })
    }
}
