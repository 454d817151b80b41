//! Reads the tool calls that a model writes into its reply, for servers that don't support tools.
//!
//! A reply with calls has the key `tool_calls` at its top level. If there are several blocks, the
//! first one with calls is used, because what follows was written without their results.

use std::borrow::Cow;

use cogwork_llm::ToolCall;
use serde_json::{Map, Value};

use super::bounds::{Bounds, told};
use super::candidates::{Block, block_with, is_key_at};
use super::problem::{ReplyProblem, ReplyProblemKind};
use crate::text_error::{TextError, without_places};

/// The key of the calls.
const KEY: &str = "tool_calls";

/// The keys of the input of a call. Models know the other ones from other programs.
const INPUTS: [&str; 3] = ["input", "arguments", "parameters"];

/// Returns the calls of a reply; none if it doesn't request any. Their ids begin with `id`.
pub(crate) fn read_calls(text: &str, id: &str) -> Result<Vec<ToolCall>, ReplyProblem> {
    if !text.contains(KEY) {
        return Ok(Vec::new());
    }

    let Some(block) = block_with(text, KEY) else {
        return Ok(Vec::new());
    };

    let value = parse(block.text).map_err(|fault| fault.problem(text, &block))?;
    let calls = match value.as_object().and_then(|reply| reply.get(KEY)) {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Array(calls)) => calls.as_slice(),
        Some(call @ Value::Object(_)) => std::slice::from_ref(call),
        Some(_) => return Err(unlike_calls("`tool_calls` is not a list")),
    };

    let numbered = (1..).zip(calls);
    numbered
        .map(|(number, call)| read_call(number, call, id))
        .collect()
}

fn read_call(number: usize, call: &Value, id: &str) -> Result<ToolCall, ReplyProblem> {
    let Some(call) = call.as_object() else {
        return Err(unlike_calls(&format!("call {number} is not a mapping")));
    };

    let name = call.get("name").and_then(Value::as_str).map(str::trim);
    let Some(name) = name.filter(|name| !name.is_empty()) else {
        return Err(unlike_calls(&format!("call {number} has no `name`")));
    };

    Ok(ToolCall::new(format!("{id}{number}"), name, input(call)))
}

/// Returns the input of a call as JSON. It may be written as a text that contains JSON.
fn input(call: &Map<String, Value>) -> String {
    match INPUTS.iter().find_map(|key| call.get(*key)) {
        None | Some(Value::Null) => "{}".to_owned(),
        Some(Value::String(text)) => text.clone(),
        Some(input) => input.to_string(),
    }
}

fn unlike_calls(problem: &str) -> ReplyProblem {
    let message = format!("{problem}; expected a list of calls with `name` and `input`");
    ReplyProblem::new(ReplyProblemKind::ToolCalls, message)
}

/// A block that cannot be parsed: the message, and the offset in the block.
struct Unparsed {
    message: String,
    offset: usize,
}

impl Unparsed {
    fn problem(self, text: &str, block: &Block<'_>) -> ReplyProblem {
        let error = TextError::quoting(&self.message).at(text, block.offset + self.offset);
        ReplyProblem::from(ReplyProblemKind::ToolCalls, error)
    }
}

fn parse(block: &str) -> Result<Value, Unparsed> {
    if let Ok(value) = serde_json::from_str(block) {
        return Ok(value);
    }

    let guard = Bounds::default().guard();
    guard.check(block).map_err(|refusal| Unparsed {
        message: told(refusal.reason),
        offset: refusal.offset,
    })?;

    serde_yaml::from_str(block).map_err(|error| Unparsed {
        message: without_places(&error.to_string()),
        offset: error.location().map_or(0, |place| place.index()),
    })
}

/// Replaces the key `tool_calls` with spaces where its list is empty or null. A schema of a server
/// may require the key even if there are no calls, and readers of plans don't accept it.
pub(crate) fn without_empty_calls(text: &str) -> Cow<'_, str> {
    let keys = text
        .match_indices(KEY)
        .filter(|(at, _)| is_key_at(text, *at));
    let empty: Vec<_> = keys.filter_map(|(at, _)| empty_entry(text, at)).collect();
    if empty.is_empty() {
        return Cow::Borrowed(text);
    }

    let mut bytes = text.as_bytes().to_vec();
    for at in empty.into_iter().flatten() {
        if let Some(byte) = bytes.get_mut(at).filter(|byte| **byte != b'\n') {
            *byte = b' ';
        }
    }

    match String::from_utf8(bytes) {
        Ok(kept) => Cow::Owned(kept),
        Err(_) => Cow::Borrowed(text),
    }
}

/// Returns what follows an empty value.
fn without_empty_value(text: &str) -> Option<&str> {
    let value = text.trim_ascii_start();
    if let Some(list) = value.strip_prefix('[') {
        return list.trim_ascii_start().strip_prefix(']');
    }
    if let Some(after) = value.strip_prefix("null") {
        return Some(after);
    }

    // In YAML, a list below the key may begin at the same column.
    let next_line = text.trim_start_matches([' ', '\r']).strip_prefix('\n')?;
    let is_list = next_line.starts_with(['-', ' ', '\t', '\n', '\r', '#']);
    (!is_list).then_some(text)
}

/// Returns the range of an entry with an empty value, with the comma after or before it. `at` is
/// the offset of its key. All characters in the range are ASCII.
fn empty_entry(text: &str, at: usize) -> Option<std::ops::Range<usize>> {
    let (before, after) = text.split_at_checked(at)?;
    let after = after.strip_prefix(KEY)?;
    let after = after.strip_prefix('"').unwrap_or(after).trim_ascii_start();
    let value = after.strip_prefix(':')?;
    let after = without_empty_value(value)?;

    let start = before.strip_suffix('"').unwrap_or(before);
    if let Some(next) = after.trim_ascii_start().strip_prefix(',') {
        return Some(start.len()..text.len() - next.len());
    }

    let is_alone = |rest: &str| rest.is_empty() || rest.starts_with(['\n', '\r', '}', ' ']);
    let previous = start.trim_ascii_end();
    let start = previous.strip_suffix(',').unwrap_or(start);
    is_alone(after).then(|| start.len()..text.len() - after.len())
}
