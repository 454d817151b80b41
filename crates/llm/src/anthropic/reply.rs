//! Reads replies of Anthropic's Messages API, complete and in pieces.

use std::mem;

use serde::Deserialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value};

use crate::http::{Event, Secrets, check_error, error_of_text, parse};
use crate::wire::{
    Decoded, RawFields, Reader, count, finish_reason, list, text, unreadable, with_names,
};
use crate::{ChatResponse, Delta, FinishReason, LlmError, LlmErrorKind, ToolCall, Usage};

/// The maximum number of blocks in a reply.
const MOST_BLOCKS: usize = 10_000;

/// The content of a reply, unparsed.
#[derive(Deserialize)]
struct Raw<'a> {
    #[serde(borrow)]
    content: &'a RawValue,
}

/// Reads a complete response.
pub(super) fn decode(body: &[u8], secrets: &Secrets) -> Result<Decoded, LlmError> {
    let reply = parse("message", body, secrets)?;
    check_error(&reply, secrets)?;
    let raw: Raw<'_> = serde_json::from_slice(body)
        .map_err(|_| unreadable("the response has no content; expected an array of blocks"))?;
    let blocks: Vec<&RawValue> = serde_json::from_str(raw.content.get())
        .map_err(|_| unreadable("the response has no content; expected an array of blocks"))?;

    let mut said = String::new();
    let mut reasoning = String::new();
    let mut calls = Vec::new();
    for (block, raw) in list(&reply, "/content").iter().zip(blocks) {
        said.push_str(&text(block, "/text").unwrap_or_default());
        reasoning.push_str(&text(block, "/thinking").unwrap_or_default());
        if is_call(block) {
            calls.push(call(block, raw));
        }
    }

    let keeps = list(&reply, "/content").iter().any(says_more);
    let response = ended(
        &reply,
        Counts::of(&reply),
        &said,
        !calls.is_empty(),
        secrets,
    )?
    .with_text(said)
    .with_reasoning(reasoning)
    .with_tool_calls(calls);
    Ok(Decoded {
        response,
        data: keeps.then(|| raw.content.get().to_owned()),
    })
}

fn is_call(block: &Value) -> bool {
    block.get("type").is_some_and(|kind| kind == "tool_use")
}

/// Returns the call in a block. The input is taken from the unparsed block, which keeps the order of
/// its fields.
fn call(block: &Value, raw: &RawValue) -> ToolCall {
    let fields: RawFields = serde_json::from_str(raw.get()).unwrap_or_default();
    let input = fields
        .get("input")
        .map(|input| input.get())
        .unwrap_or_default();
    let input = match block.get("input") {
        None | Some(Value::Null) => "",
        Some(Value::String(text)) => text,
        Some(_) => input,
    };
    let field = |pointer| text(block, pointer).unwrap_or_default();

    ToolCall::new(field("/id"), field("/name"), input)
}

/// Returns whether a block contains more than the text and the calls of a message do, so that the
/// server wants it back as it is.
fn says_more(block: &Value) -> bool {
    match text(block, "/type").as_deref() {
        Some("text") => block.get("citations").is_some_and(|list| !list.is_null()),
        Some("tool_use") => false,
        _ => true,
    }
}

/// Returns the response without its texts and calls.
fn ended(
    end: &Value,
    usage: Counts,
    said: &str,
    has_calls: bool,
    secrets: &Secrets,
) -> Result<ChatResponse, LlmError> {
    let reason = finish_reason(&text(end, "/stop_reason").unwrap_or_default());
    if reason == FinishReason::ContentFilter && !has_calls {
        return Err(refused(end, secrets).with_text_so_far(said));
    }

    let response = ChatResponse::default().with_finish_reason(reason);
    let response = match usage.total() {
        Some(usage) => response.with_usage(usage),
        None => response,
    };
    Ok(with_names(response, end))
}

/// Returns the error of a refusal, with its category. The text before it isn't an answer.
fn refused(end: &Value, secrets: &Secrets) -> LlmError {
    let category = text(end, "/stop_details/category");
    let explanation = text(end, "/stop_details/explanation");
    let message = match (category, explanation) {
        (None, None) => "the model refused without a reason".to_owned(),
        (Some(category), None) => format!("the model refused: {}", secrets.line(&category)),
        (None, Some(why)) => format!("the model refused: {}", secrets.line(&why)),
        (Some(category), Some(why)) => {
            let (category, why) = (secrets.line(&category), secrets.line(&why));
            format!("the model refused ({category}): {why}")
        }
    };

    LlmError::new(LlmErrorKind::ContentFilter, message)
}

/// Token counts. A stream reports some at its beginning and some at its end.
#[derive(Clone, Copy, Default)]
struct Counts {
    input: Option<u64>,
    written: Option<u64>,
    cached: Option<u64>,
    output: Option<u64>,
    thinking: Option<u64>,
}

impl Counts {
    fn of(message: &Value) -> Self {
        Self {
            input: count(message, "/usage/input_tokens"),
            written: count(message, "/usage/cache_creation_input_tokens"),
            cached: count(message, "/usage/cache_read_input_tokens"),
            output: count(message, "/usage/output_tokens"),
            thinking: count(message, "/usage/output_tokens_details/thinking_tokens"),
        }
    }

    /// Updates the counts that are present. They are totals, so newer ones replace older ones.
    fn update(&mut self, message: &Value) {
        let newer = Self::of(message);
        *self = Self {
            input: newer.input.or(self.input),
            written: newer.written.or(self.written),
            cached: newer.cached.or(self.cached),
            output: newer.output.or(self.output),
            thinking: newer.thinking.or(self.thinking),
        };
    }

    /// Returns the sum. The API counts prompt tokens separately by where they come from.
    fn total(self) -> Option<Usage> {
        if self.input.is_none() && self.output.is_none() {
            return None;
        }

        let written = self.written.unwrap_or_default();
        let cached = self.cached.unwrap_or_default();
        let input = self.input.unwrap_or_default();
        let prompt = input.saturating_add(written).saturating_add(cached);
        Some(
            Usage::new(prompt, self.output.unwrap_or_default())
                .with_cached_tokens(cached)
                .with_cache_written_tokens(written)
                .with_reasoning_tokens(self.thinking.unwrap_or_default()),
        )
    }
}

/// A block as it grows.
struct Block {
    index: Option<u64>,
    start: Value,
    /// The fields at the beginning, unparsed.
    fields: RawFields,
    text: String,
    thinking: String,
    signature: String,
    input: String,
    citations: Vec<Value>,
    is_open: bool,
}

impl Block {
    fn call(&self) -> ToolCall {
        let raw = self.raw();
        let call = match &raw {
            Some(raw) => call(&self.start, raw),
            None => call(&self.start, RawValue::NULL),
        };

        // Some servers send the whole input at the beginning.
        match self.input.as_str() {
            "" => call,
            input => ToolCall::new(call.id(), call.name(), input),
        }
    }

    fn raw(&self) -> Option<Box<RawValue>> {
        to_raw_value(&self.fields).ok()
    }

    /// Returns the block as the server would have sent it at once.
    fn whole(mut self) -> Option<Box<RawValue>> {
        let texts = [
            ("text", &self.text),
            ("thinking", &self.thinking),
            ("signature", &self.signature),
        ];
        for (name, more) in texts.into_iter().filter(|(_, more)| !more.is_empty()) {
            let begun = text(&self.start, &format!("/{name}")).unwrap_or_default();
            let whole = to_raw_value(&format!("{begun}{more}")).ok()?;
            self.fields.insert(name.to_owned(), whole);
        }
        if !self.input.is_empty() {
            let input = RawValue::from_string(mem::take(&mut self.input)).ok()?;
            self.fields.insert("input".to_owned(), input);
        }
        if !self.citations.is_empty() {
            let citations = to_raw_value(&self.citations).ok()?;
            self.fields.insert("citations".to_owned(), citations);
        }

        self.raw()
    }
}

/// What the events of a stream contained in addition to the deltas that were emitted.
#[derive(Default)]
pub(super) struct Pieces {
    /// In the order in which they began. llama.cpp starts the next call before it ends the first.
    blocks: Vec<Block>,
    /// The size of what wasn't emitted, in bytes.
    held: usize,
    /// Whether a piece of a block couldn't be read, so that the block isn't known as it was sent.
    is_incomplete: bool,
    said: String,
    /// What the events around the blocks say about the reply.
    end: Map<String, Value>,
    usage: Counts,
}

impl Pieces {
    fn start(&mut self, event: &Value, raw: &str) -> Result<Vec<Delta>, LlmError> {
        #[derive(Deserialize)]
        struct Start {
            content_block: RawFields,
        }

        if self.blocks.len() == MOST_BLOCKS {
            let message = format!("the reply contains more than {MOST_BLOCKS} blocks");
            return Err(unreadable(message));
        }

        let Ok(Start { content_block }) = serde_json::from_str(raw) else {
            self.is_incomplete = true;
            return Ok(Vec::new());
        };
        let start = event.get("content_block").cloned().unwrap_or_default();
        let deltas = self.said(&start);

        self.held += raw.len();
        self.blocks.push(Block {
            index: count(event, "/index"),
            start,
            fields: content_block,
            text: String::new(),
            thinking: String::new(),
            signature: String::new(),
            input: String::new(),
            citations: Vec::new(),
            is_open: true,
        });
        Ok(deltas)
    }

    fn grow(&mut self, event: &Value) -> Vec<Delta> {
        let nothing = Value::Null;
        let delta = event.get("delta").unwrap_or(&nothing);
        let part = |name: &str| text(delta, name).unwrap_or_default();
        let kind = part("/type");
        let Some(block) = self.open(count(event, "/index")) else {
            self.is_incomplete = true;
            return self.said(delta);
        };

        let grown = match kind.as_str() {
            "citations_delta" => {
                let citation = delta.get("citation").cloned().unwrap_or_default();
                let bytes = citation.to_string().len();
                block.citations.push(citation);
                bytes
            }
            "text_delta" | "thinking_delta" | "signature_delta" | "input_json_delta" | "" => {
                block.text.push_str(&part("/text"));
                block.thinking.push_str(&part("/thinking"));
                block.signature.push_str(&part("/signature"));
                block.input.push_str(&part("/partial_json"));
                part("/signature").len() + part("/partial_json").len()
            }
            _ => {
                self.is_incomplete = true;
                0
            }
        };

        self.held += grown;
        self.said(delta)
    }

    /// Returns the deltas of a block or a piece of one.
    fn said(&mut self, piece: &Value) -> Vec<Delta> {
        let thinking = text(piece, "/thinking").map(Delta::Reasoning);
        let text = text(piece, "/text");
        self.said.push_str(text.as_deref().unwrap_or_default());

        thinking.into_iter().chain(text.map(Delta::Text)).collect()
    }

    /// Returns the open block with this index, or the last one without an index.
    fn open(&mut self, index: Option<u64>) -> Option<&mut Block> {
        self.blocks
            .iter_mut()
            .rev()
            .find(|block| block.is_open && (index.is_none() || block.index == index))
    }

    /// Ends a block. Returns its call.
    fn stop(&mut self, index: Option<u64>) -> Option<Delta> {
        let block = self.open(index)?;
        block.is_open = false;

        is_call(&block.start).then(|| Delta::ToolCall(block.call()))
    }

    /// Returns the calls whose blocks haven't ended, and the response without its texts and calls.
    fn end(&mut self, secrets: &Secrets) -> Result<Vec<Delta>, LlmError> {
        let has_calls = self.blocks.iter().any(|block| is_call(&block.start));
        let end = Value::Object(mem::take(&mut self.end));
        let end = ended(&end, self.usage, &self.said, has_calls, secrets)?;

        let open = self.blocks.iter_mut().filter(|block| block.is_open);
        let calls = open.filter(|block| is_call(&block.start));
        let calls = calls.map(|block| Delta::ToolCall(block.call()));
        Ok(calls.chain([Delta::End(end)]).collect())
    }
}

impl Reader for Pieces {
    fn read(&mut self, event: &Event, secrets: &Secrets) -> Result<Vec<Delta>, LlmError> {
        let piece = parse("event of a message", event.data.as_bytes(), secrets)?;
        check_error(&piece, secrets)?;

        let kind = text(&piece, "/type").unwrap_or_else(|| event.name.clone());
        match kind.as_str() {
            "error" => return Err(error_of_text(&event.data, secrets)),
            "content_block_start" => return self.start(&piece, &event.data),
            "content_block_delta" => return Ok(self.grow(&piece)),
            "content_block_stop" => {
                let index = count(&piece, "/index");
                return Ok(self.stop(index).into_iter().collect());
            }
            "message_stop" => return self.end(secrets),
            "message_start" => {
                let message = piece.get("message").cloned().unwrap_or_default();
                self.usage.update(&message);
                if let Value::Object(fields) = message {
                    self.end = fields;
                }
            }
            "message_delta" => {
                self.usage.update(&piece);
                for name in ["stop_reason", "stop_details"] {
                    if let Some(value) = piece.pointer(&format!("/delta/{name}")) {
                        self.end.insert(name.to_owned(), value.clone());
                    }
                }
            }
            // Pings and future events; the API's versioning policy allows new ones.
            _ => {}
        }

        Ok(Vec::new())
    }

    fn held(&self) -> usize {
        self.held
    }

    fn data(&mut self) -> Option<String> {
        let blocks = mem::take(&mut self.blocks);
        let keeps = blocks.iter().any(|block| says_more(&block.start));
        if self.is_incomplete || !keeps {
            return None;
        }

        let blocks = blocks.into_iter().map(Block::whole);
        let blocks: Vec<Box<RawValue>> = blocks.collect::<Option<_>>()?;
        serde_json::to_string(&blocks).ok()
    }
}
