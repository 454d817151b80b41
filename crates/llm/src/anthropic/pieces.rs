use std::collections::VecDeque;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::reply::{Block, Counts, Reply, ended};
use crate::http::json::{self, parse, parse_object};
use crate::http::{Event, Reader, Secrets, failure};
use crate::{Delta, LlmError, ToolCall};

/// Any event; which fields it has is a matter of its type.
#[derive(Deserialize)]
struct Piece<'a> {
    #[serde(borrow, default, rename = "type")]
    kind: Option<&'a RawValue>,
    #[serde(borrow, default)]
    error: Option<&'a RawValue>,
    #[serde(borrow, default)]
    message: Option<&'a RawValue>,
    #[serde(borrow, default)]
    content_block: Option<&'a RawValue>,
    #[serde(borrow, default)]
    delta: Option<&'a RawValue>,
    #[serde(borrow, default)]
    usage: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct MessageDelta<'a> {
    #[serde(borrow, default)]
    stop_reason: Option<&'a RawValue>,
}

/// What the events of one stream have said besides what was given out.
#[derive(Default)]
pub(super) struct Pieces {
    /// The call whose block has not ended, and its input so far.
    open: Option<(ToolCall, String)>,
    stop_reason: Option<String>,
    usage: Counts,
    model: Option<String>,
    has_content: bool,
}

impl Reader for Pieces {
    fn read(
        &mut self,
        event: &Event,
        secrets: &Secrets,
        deltas: &mut VecDeque<Delta>,
    ) -> Result<(), LlmError> {
        let piece: Piece<'_> = json::read("event of a message", event.data.as_bytes(), secrets)?;
        if let Some(error) = piece.error.filter(|error| !failure::says_nothing(error)) {
            return Err(failure::of_value(error, secrets));
        }
        let kind = piece.kind.and_then(parse::<String>);
        match kind.as_deref().unwrap_or(&event.name) {
            "error" => return Err(failure::of_text(&event.data, secrets)),
            "message_start" => {
                if let Some(message) = piece.message.and_then(parse_object::<Reply<'_>>) {
                    self.usage.add(message.usage);
                    self.model = json::text(message.model);
                }
            }
            "content_block_start" => {
                self.close(deltas);
                self.grow(piece.content_block, deltas);
            }
            "content_block_delta" => self.grow(piece.delta, deltas),
            "content_block_stop" => self.close(deltas),
            "message_delta" => {
                self.usage.add(piece.usage);
                let delta = piece.delta.and_then(parse_object::<MessageDelta<'_>>);
                let reason = delta.and_then(|delta| delta.stop_reason).and_then(parse::<String>);
                self.stop_reason = reason.or(self.stop_reason.take());
            }
            "message_stop" => {
                self.close(deltas);
                let end = ended(self.stop_reason.take(), self.has_content, self.usage, self.model.take())?;
                deltas.push_back(Delta::End(end));
            }
            // Pings, and whatever the API will add: its versioning allows for that.
            _ => {}
        }
        Ok(())
    }

    fn held(&self) -> usize {
        self.open.as_ref().map_or(0, |(call, input)| call.bytes() + input.len())
    }
}

impl Pieces {
    fn grow(&mut self, block: Option<&RawValue>, deltas: &mut VecDeque<Delta>) {
        let Some(block) = block.and_then(parse_object::<Block<'_>>) else { return };
        deltas.extend(block.thinking().map(Delta::Reasoning));
        let text = block.text();
        self.has_content |= text.is_some();
        deltas.extend(text.map(Delta::Text));
        match (&mut self.open, block.more_input()) {
            (Some((_, input)), Some(more)) => input.push_str(&more),
            (Some(_), None) => {}
            (open, _) => *open = block.call().map(|call| (call, String::new())),
        }
    }

    /// Gives out the call whose block ends here. Some servers say its input at the beginning.
    fn close(&mut self, deltas: &mut VecDeque<Delta>) {
        let Some((call, input)) = self.open.take() else { return };
        self.has_content = true;
        let call = if input.is_empty() { call } else { ToolCall::new(call.id(), call.name(), input) };
        deltas.push_back(Delta::ToolCall(call));
    }
}
