//! Reads tool calls, complete or in pieces, from servers that only roughly follow the protocol.

use std::collections::HashSet;

use serde_json::Value;

use super::{count, list, text, unreadable};
use crate::{ChatRequest, ChatResponse, FinishReason, LlmError, Message, ToolCall};

/// The maximum number of tool calls in a reply.
const MOST: usize = 128;

/// A function call, or a part of one.
#[derive(Default)]
pub(crate) struct Piece {
    index: Option<u64>,
    id: String,
    name: String,
    arguments: String,
    /// What Google's servers want back with the call.
    pub(crate) extra_content: Option<Value>,
}

impl Piece {
    /// Reads the calls of a message, an array of `{index, id, function: {name, arguments}}` in which
    /// every field is optional.
    pub(crate) fn all_of(message: &Value) -> Vec<Self> {
        let calls = list(message, "/tool_calls").iter();
        calls
            .filter(|call| call.is_object())
            .map(|call| Self {
                index: count(call, "/index"),
                id: text(call, "/id").unwrap_or_default(),
                extra_content: call
                    .get("extra_content")
                    .filter(|extra| !extra.is_null())
                    .cloned(),
                ..call.get("function").map(Self::of).unwrap_or_default()
            })
            .collect()
    }

    fn of(function: &Value) -> Self {
        Self {
            name: text(function, "/name").unwrap_or_default(),
            arguments: function.get("arguments").map(arguments).unwrap_or_default(),
            ..Self::default()
        }
    }

    /// Returns `None` if there is neither an id, a name nor arguments.
    pub(crate) fn into_call(self) -> Option<ToolCall> {
        let is_empty = self.id.is_empty() && self.name.is_empty() && self.arguments.is_empty();
        (!is_empty).then(|| ToolCall::new(self.id, self.name, self.arguments))
    }
}

/// Returns arguments as text; some servers send them as JSON.
pub(crate) fn arguments(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// The tool calls of a stream as they grow. All of them are emitted at the end of the reply,
/// because any of them may receive another piece until then.
#[derive(Default)]
pub(crate) struct Growing {
    calls: Vec<Piece>,
}

impl Growing {
    /// Appends a piece to its call, which may be a new one.
    pub(crate) fn add(&mut self, piece: Piece) -> Result<(), LlmError> {
        let Some(call) = self.call_of(&piece) else {
            // All are kept until the reply ends, so they are counted while they arrive.
            if self.calls.len() == MOST {
                return Err(too_many());
            }

            self.calls.push(piece);
            return Ok(());
        };

        call.arguments.push_str(&piece.arguments);
        // Some servers repeat id and name in every piece.
        if call.id.is_empty() {
            call.id = piece.id;
        }
        if call.name.is_empty() {
            call.name = piece.name;
        }
        call.extra_content = piece.extra_content.or(call.extra_content.take());

        Ok(())
    }

    /// Returns the call that the piece continues.
    fn call_of(&mut self, piece: &Piece) -> Option<&mut Piece> {
        let mut earlier = self.calls.iter_mut().rev();
        let earlier = match (piece.index, piece.id.as_str()) {
            // The latest with this index, because some servers use an index twice.
            (Some(index), _) => earlier.find(|call| call.index == Some(index)),
            (None, "") => earlier.next(),
            // An id without a name starts no new call: some servers generate a new id for each
            // piece.
            (None, _) if piece.name.is_empty() => earlier.next(),
            (None, id) => earlier.find(|call| call.id == id),
        };

        earlier.filter(|call| !begins_another(call, piece))
    }

    /// Returns all calls in the order in which they began.
    pub(crate) fn finish(&mut self) -> Vec<Piece> {
        std::mem::take(&mut self.calls)
    }
}

/// Returns whether the piece starts a new call despite its index. Some servers give every call the
/// index 0, or none.
fn begins_another(call: &Piece, piece: &Piece) -> bool {
    if piece.name.is_empty() {
        return false;
    }
    if !call.id.is_empty() && !piece.id.is_empty() {
        return call.id != piece.id;
    }

    // In JSON, no object begins right after the end of another one.
    let begins_an_object = call.arguments.ends_with('}') && piece.arguments.starts_with('{');
    begins_an_object || (!call.name.is_empty() && call.name != piece.name)
}

/// Gives each tool call of a reply an id that is unique in the conversation. Some servers send no
/// ids, or start again with each reply.
pub(crate) struct CallIds {
    taken: HashSet<String>,
    made: u64,
    calls: usize,
}

impl CallIds {
    /// Creates the ids for the reply to this request.
    pub(crate) fn of(request: &ChatRequest) -> Self {
        let calls = request.messages().iter().flat_map(Message::tool_calls);
        Self {
            taken: calls.map(|call| call.id().to_owned()).collect(),
            made: 0,
            calls: 0,
        }
    }

    /// Returns the call with a unique id and non-empty arguments.
    pub(crate) fn admit(&mut self, call: ToolCall) -> Result<ToolCall, LlmError> {
        self.calls += 1;
        if self.calls > MOST {
            return Err(too_many());
        }

        let keeps_id = !call.id().is_empty() && self.taken.insert(call.id().to_owned());

        // Some servers send an empty text for no arguments, which isn't valid JSON.
        let arguments = match call.arguments().trim() {
            "" => "{}",
            _ => call.arguments(),
        };

        let id = match keeps_id {
            true => call.id().to_owned(),
            // Two calls with one id would get each other's results.
            false => self.make(),
        };
        Ok(ToolCall::new(id, call.name(), arguments))
    }

    fn make(&mut self) -> String {
        loop {
            self.made += 1;
            let id = format!("call_{}", self.made);
            if self.taken.insert(id.clone()) {
                return id;
            }
        }
    }

    /// Returns whether an id of the server was replaced.
    pub(crate) fn has_made_ids(&self) -> bool {
        self.made > 0
    }

    /// Returns a complete response with unique call ids.
    pub(crate) fn whole(&mut self, mut response: ChatResponse) -> Result<ChatResponse, LlmError> {
        let calls = std::mem::take(&mut response.tool_calls).into_iter();
        response.tool_calls = calls
            .map(|call| self.admit(call))
            .collect::<Result<_, _>>()?;

        Ok(self.end(response))
    }

    /// Returns the end of a response whose calls were admitted before. Some servers have no finish
    /// reason for tool calls.
    pub(crate) fn end(&self, mut response: ChatResponse) -> ChatResponse {
        if response.finish_reason == FinishReason::Stop && self.calls > 0 {
            response.finish_reason = FinishReason::ToolCalls;
        }
        response
    }
}

fn too_many() -> LlmError {
    unreadable(format!("the reply contains more than {MOST} tool calls"))
}
