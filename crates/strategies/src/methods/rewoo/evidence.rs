//! Evidence: the outputs of calls, by which later calls refer to them as `#E1`, `#E2` and so on.

use serde_json::Value;

use crate::{Called, PlannedCall};

/// The maximum number of bytes that evidence adds to one input. Without a limit, a sequence of calls
/// that each refer to the previous one twice would double the input with every call.
const MAX_FILLED: usize = 256 * 1024;

/// Returns the calls that only need evidence that exists, with this evidence in their inputs.
pub(super) fn ready(calls: &[PlannedCall], called: &[Called]) -> Vec<PlannedCall> {
    let is_made = |call: &&PlannedCall| called.iter().any(|called| called.id == call.id);
    let missing: Vec<&PlannedCall> = calls.iter().filter(|call| !is_made(call)).collect();

    let is_ready = |call: &&&PlannedCall| !missing.iter().any(|other| needs(call, &other.id));
    let ready = missing.iter().filter(is_ready);
    ready.map(|call| with_evidence(call, called)).collect()
}

fn needs(call: &PlannedCall, id: &str) -> bool {
    let input = call.input.to_string();
    let rest = |(at, _)| input.get(at..).unwrap_or_default();
    let mut named = input.match_indices(id).map(rest);
    named.any(|rest| begins_with(rest, id))
}

fn with_evidence(call: &PlannedCall, called: &[Called]) -> PlannedCall {
    let mut room = MAX_FILLED;
    let input = with_texts(&call.input, &mut |text| filled(text, called, &mut room));
    PlannedCall {
        input,
        ..call.clone()
    }
}

/// Returns a value with other texts.
fn with_texts(value: &Value, change: &mut dyn FnMut(&str) -> String) -> Value {
    match value {
        Value::String(text) => change(text).into(),
        Value::Array(items) => {
            let items = items.iter().map(|item| with_texts(item, change));
            items.collect()
        }
        Value::Object(fields) => {
            let fields = fields.iter();
            let fields = fields.map(|(name, value)| (name.clone(), with_texts(value, change)));
            fields.collect()
        }
        other => other.clone(),
    }
}

/// Returns whether a text begins with an id. `#E12` doesn't begin with `#E1`.
fn begins_with(text: &str, id: &str) -> bool {
    let after = text.strip_prefix(id);
    after.is_some_and(|after| !after.starts_with(|next: char| next.is_ascii_digit()))
}

/// Replaces ids in a single pass, so that ids in an output aren't replaced in turn.
fn filled(text: &str, called: &[Called], room: &mut usize) -> String {
    let mut whole = String::new();
    let mut rest = text;

    while let Some(at) = rest.find('#') {
        let (before, after) = rest.split_at(at);
        whole.push_str(before);

        let mut called = called.iter();
        let found = called.find(|call| begins_with(after, &call.id) && call.output.len() <= *room);
        let (filled, length) = found.map_or(("#", 1), |call| (&*call.output, call.id.len()));
        if found.is_some() {
            *room -= filled.len();
        }
        whole.push_str(filled);
        rest = after.get(length..).unwrap_or_default();
    }

    whole.push_str(rest);
    whole
}
