//! Reads tool calls, complete or in pieces, from servers that only roughly follow the protocol.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::braces::Braces;
pub(crate) use super::call_ids::{MOST, too_many};
use super::json::{self, First, count, parse, parse_object};
use crate::{LlmError, ToolCall};

/// A function call, or a part of one.
#[derive(Default)]
pub(crate) struct Piece {
    index: Option<u64>,
    id: String,
    name: String,
    arguments: String,
}

#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
struct Wire<'a> {
    index: Option<&'a RawValue>,
    id: Option<&'a RawValue>,
    function: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
struct Function<'a> {
    name: Option<&'a RawValue>,
    arguments: Option<&'a RawValue>,
}

impl Piece {
    /// Reads an array of `{index, id, function: {name, arguments}}`, in which every field is
    /// optional.
    pub(crate) fn all_of(calls: Option<&RawValue>) -> impl Iterator<Item = Self> {
        let calls = calls
            .and_then(parse::<First<&RawValue, { MOST + 1 }>>)
            .map(|calls| calls.0);
        calls
            .unwrap_or_default()
            .into_iter()
            .filter_map(parse_object::<Wire<'_>>)
            .map(|wire| Self {
                index: wire.index.and_then(count),
                id: json::text(wire.id).unwrap_or_default(),
                ..wire.function.and_then(Self::of).unwrap_or_default()
            })
    }

    /// Reads `{name, arguments}`, the format before a reply could contain several calls.
    pub(crate) fn of(function: &RawValue) -> Option<Self> {
        let function = parse_object::<Function<'_>>(function)?;
        let name = json::text(function.name).unwrap_or_default();
        let arguments = function.arguments.map(arguments).unwrap_or_default();

        Some(Self {
            name,
            arguments,
            ..Self::default()
        })
    }

    /// Returns `None` if there is neither an id, a name nor arguments.
    pub(crate) fn into_call(self) -> Option<ToolCall> {
        let is_empty = self.id.is_empty() && self.name.is_empty() && self.arguments.is_empty();
        (!is_empty).then(|| ToolCall::new(self.id, self.name, self.arguments))
    }
}

/// Returns JSON that may be encoded as a string.
pub(crate) fn arguments(raw: &RawValue) -> String {
    match raw.get() {
        "null" => String::new(),
        other => parse::<String>(raw).unwrap_or_else(|| other.to_owned()),
    }
}

/// The tool calls of a stream as they grow. All of them are emitted at the end of the reply,
/// because any of them may receive another piece until then.
#[derive(Default)]
pub(crate) struct Growing {
    calls: Vec<(Piece, Braces)>,
    bytes: usize,
}

impl Growing {
    /// Appends a piece to its call, which may be a new one.
    pub(crate) fn add(&mut self, piece: Piece) -> Result<(), LlmError> {
        let is_full = self.calls.len() == MOST;
        let mut earlier = self.calls.iter_mut().rev();
        let earlier = match (piece.index, piece.id.as_str()) {
            (Some(index), _) => earlier.find(|(call, _)| call.index == Some(index)),
            (None, "") => earlier.next(),
            // An id without a name starts no new call: some servers generate a new id for each
            // piece.
            (None, _) if piece.name.is_empty() => earlier.next(),
            (None, id) => earlier.find(|(call, _)| call.id == id),
        };

        match earlier.filter(|(call, braces)| !begins_another(call, braces, &piece)) {
            Some((call, braces)) => {
                self.bytes += piece.arguments.len();
                braces.feed(&piece.arguments);
                call.arguments.push_str(&piece.arguments);

                // Some servers repeat id and name in every piece.
                if call.id.is_empty() {
                    call.id = piece.id;
                }

                if call.name.is_empty() {
                    call.name = piece.name;
                }
            }
            None if is_full => return Err(too_many()),
            None => {
                self.bytes += piece.id.len() + piece.name.len() + piece.arguments.len();
                let mut braces = Braces::default();
                braces.feed(&piece.arguments);
                self.calls.push((piece, braces));
            }
        }

        Ok(())
    }

    /// Returns the total size in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    /// Returns all calls in the order in which they began.
    pub(crate) fn finish(&mut self) -> impl Iterator<Item = ToolCall> {
        self.bytes = 0;
        std::mem::take(&mut self.calls)
            .into_iter()
            .filter_map(|(call, _)| call.into_call())
    }
}

/// Returns whether the piece starts a new call despite its index. Some servers give every call the
/// index 0, or none.
fn begins_another(call: &Piece, braces: &Braces, piece: &Piece) -> bool {
    if piece.name.is_empty() {
        return false;
    }

    if !call.id.is_empty() && !piece.id.is_empty() {
        return call.id != piece.id;
    }

    (!call.name.is_empty() && call.name != piece.name)
        || (braces.are_closed() && !piece.arguments.is_empty())
}
