use std::mem;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::reply::{Block, Counts, Named, Reply, ended};
use crate::http::calls::{MOST, too_many};
use crate::http::json::{self, count, parse, parse_object};
use crate::http::{Event, Reader, Secrets, failure};
use crate::{Delta, LlmError, ToolCall};

/// Any event. Its fields depend on its type.
#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
struct Piece<'a> {
    #[serde(rename = "type")]
    kind: Option<&'a RawValue>,
    error: Option<&'a RawValue>,
    index: Option<&'a RawValue>,
    message: Option<&'a RawValue>,
    content_block: Option<&'a RawValue>,
    delta: Option<&'a RawValue>,
    usage: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
struct MessageDelta<'a> {
    stop_reason: Option<&'a RawValue>,
}

/// A call as it grows.
struct Open {
    index: Option<u64>,
    call: ToolCall,
    input: String,
}

/// What the events of a stream contained in addition to the deltas that were emitted.
#[derive(Default)]
pub(super) struct Pieces {
    /// The calls whose blocks haven't ended. llama.cpp starts the next one before it ends the
    /// first.
    open: Vec<Open>,
    /// The size of the open calls in bytes.
    held: usize,
    stop_reason: Option<String>,
    usage: Counts,
    named: Named,
    has_content: bool,
}

impl Reader for Pieces {
    fn read(&mut self, event: &Event, secrets: &Secrets) -> Result<Vec<Delta>, LlmError> {
        let piece: Piece<'_> = json::read("event of a message", event.data.as_bytes(), secrets)?;
        failure::check(piece.error, secrets)?;

        let kind = piece.kind.and_then(parse::<String>);
        let index = piece.index.and_then(count);
        match kind.as_deref().unwrap_or(&event.name) {
            "error" => return Err(failure::of_text(&event.data, secrets)),
            "content_block_start" => return self.grow(piece.content_block, index),
            "content_block_delta" => return self.grow(piece.delta, index),
            "content_block_stop" => return Ok(self.close(self.place(index)).into_iter().collect()),
            "message_stop" => return self.end(),
            "message_start" => {
                if let Some(message) = piece.message.and_then(parse_object::<Reply<'_>>) {
                    self.usage.add(message.usage);
                    self.named = Named {
                        model: json::text(message.model),
                        id: json::text(message.id),
                    };
                }
            }
            "message_delta" => {
                self.usage.add(piece.usage);
                let delta = piece.delta.and_then(parse_object::<MessageDelta<'_>>);
                let reason = delta
                    .and_then(|delta| delta.stop_reason)
                    .and_then(parse::<String>);
                self.stop_reason = reason.or(self.stop_reason.take());
            }
            // Pings and future events; the API's versioning policy allows new ones.
            _ => {}
        }

        Ok(Vec::new())
    }

    fn held(&self) -> usize {
        self.held
    }
}

impl Pieces {
    /// Returns the calls whose blocks haven't ended, and the response without its texts and calls.
    fn end(&mut self) -> Result<Vec<Delta>, LlmError> {
        let mut deltas = Vec::new();
        while !self.open.is_empty() {
            deltas.extend(self.close(Some(0)));
        }

        let end = ended(
            self.stop_reason.take(),
            self.has_content,
            self.usage,
            mem::take(&mut self.named),
        )?;

        deltas.push(Delta::End(end));
        Ok(deltas)
    }

    fn grow(
        &mut self,
        block: Option<&RawValue>,
        index: Option<u64>,
    ) -> Result<Vec<Delta>, LlmError> {
        let Some(block) = block.and_then(parse_object::<Block<'_>>) else {
            return Ok(Vec::new());
        };

        let text = block.text();
        self.has_content |= text.is_some();

        if let (Some(more), Some(place)) = (block.more_input(), self.place(index)) {
            self.held += more.len();
            if let Some(open) = self.open.get_mut(place) {
                open.input.push_str(&more);
            }
        }

        if let Some(call) = block.call() {
            if self.open.len() == MOST {
                return Err(too_many());
            }

            self.held += call.bytes();
            self.open.push(Open {
                index,
                call,
                input: String::new(),
            });
        }

        let reasoning = block.thinking().map(Delta::Reasoning);
        Ok(reasoning.into_iter().chain(text.map(Delta::Text)).collect())
    }

    /// Returns the position of the open block with this index, or of the last one without an index.
    fn place(&self, index: Option<u64>) -> Option<usize> {
        self.open
            .iter()
            .rposition(|open| index.is_none() || open.index == index)
    }

    /// Returns the call whose block ends. Some servers send its whole input at the beginning.
    fn close(&mut self, place: Option<usize>) -> Option<Delta> {
        let Open { call, input, .. } = self.open.remove(place?);
        self.has_content = true;
        self.held = self.held.saturating_sub(call.bytes() + input.len());

        let call = if input.is_empty() {
            call
        } else {
            ToolCall::new(call.id(), call.name(), input)
        };

        Some(Delta::ToolCall(call))
    }
}
