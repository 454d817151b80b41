//! Reading the arguments of a call. Numbers and booleans may be written in texts.

use rmcp::model::JsonObject;
use serde_json::Value;

use super::history::Thought;
use crate::store::SessionId;

/// The greatest number that JavaScript represents with all its neighbours.
pub(super) const MAX_INTEGER: u64 = (1 << 53) - 1;

/// The maximum length of the name of a branch, in bytes.
const BRANCH: usize = 1_024;

/// The maximum number of characters of a value that an error repeats.
const REPEATED: usize = 1_000;

/// What precedes the problems.
const PREFIX: &str =
    "MCP error -32602: Input validation error: Invalid arguments for tool sequentialthinking: ";

/// The arguments of a call.
#[derive(Debug)]
pub(super) struct Arguments {
    pub(super) thought: Thought,
    pub(super) session: Option<SessionId>,
}

/// Reads the arguments of a call. Others than the known ones are ignored.
///
/// # Errors
///
/// Returns a line for each problem.
pub(super) fn read(values: JsonObject, max_bytes: usize) -> Result<Arguments, String> {
    let mut reading = Reading {
        values,
        problems: Vec::new(),
    };

    // In the order in which the original lists problems.
    let thought = reading.needed("thought", |value| text(value, max_bytes));
    let next_thought_needed = reading.needed("nextThoughtNeeded", boolean);
    let thought_number = reading.needed("thoughtNumber", integer);
    let total_thoughts = reading.needed("totalThoughts", integer);
    let thought = Thought {
        thought,
        thought_number,
        total_thoughts: total_thoughts.max(thought_number),
        next_thought_needed,
        is_revision: reading.if_there("isRevision", boolean),
        revises_thought: reading.if_there("revisesThought", integer),
        branch_from_thought: reading.if_there("branchFromThought", integer),
        branch_id: reading.if_there("branchId", |value| text(value, BRANCH)),
        needs_more_thoughts: reading.if_there("needsMoreThoughts", boolean),
    };

    // The original ignores the id of a session.
    reading.values.retain(|_, value| !value.is_null());
    let session = reading.if_there("sessionId", session).flatten();

    if reading.problems.is_empty() {
        return Ok(Arguments { thought, session });
    }
    let problems = reading.problems.join("\n");
    Err(format!("{PREFIX}{problems}"))
}

/// Arguments, and the problems that were found in them.
struct Reading {
    values: JsonObject,
    problems: Vec<String>,
}

impl Reading {
    /// Reads an argument. Returns any value if there are problems.
    fn needed<T: Default>(
        &mut self,
        name: &str,
        read: impl FnOnce(Option<Value>) -> Result<T, String>,
    ) -> T {
        read(self.values.remove(name)).unwrap_or_else(|problem| {
            self.problems.push(format!("{problem} at {name}"));
            T::default()
        })
    }

    /// Reads an argument that isn't required. The value null isn't the same as no argument.
    fn if_there<T: Default>(
        &mut self,
        name: &str,
        read: impl FnOnce(Option<Value>) -> Result<T, String>,
    ) -> Option<T> {
        let is_there = self.values.contains_key(name);
        is_there.then(|| self.needed(name, read))
    }
}

/// Reads a number, which is at least 1.
fn integer(value: Option<Value>) -> Result<u64, String> {
    let number: Option<f64> = match value {
        Some(Value::Number(number)) => number.as_f64(),
        Some(Value::String(text)) => text.trim().parse().ok(),
        _ => None,
    };
    let Some(number) = number.filter(|number| number.is_finite()) else {
        return Err("Invalid input: expected number, received NaN".to_owned());
    };

    // Exact, as the constant says.
    #[allow(clippy::cast_precision_loss)]
    let max = MAX_INTEGER as f64;
    if number.fract() != 0.0 {
        return Err("Invalid input: expected int, received number".to_owned());
    }
    if number < 1.0 {
        return Err("Too small: expected number to be >=1".to_owned());
    }
    if number > max {
        return Err(format!("Too big: expected int to be <={MAX_INTEGER}"));
    }

    // Between 1 and the greatest integer, and without a fraction.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    Ok(number as u64)
}

fn boolean(value: Option<Value>) -> Result<bool, String> {
    let text = match value {
        Some(Value::Bool(value)) => return Ok(value),
        Some(Value::String(text)) => text,
        _ => return Err("Invalid input".to_owned()),
    };

    if text.eq_ignore_ascii_case("true") {
        return Ok(true);
    }
    if text.eq_ignore_ascii_case("false") {
        return Ok(false);
    }
    let start: String = text.chars().take(REPEATED).collect();
    let rest = if start.len() < text.len() { "…" } else { "" };
    Err(format!(
        r#"Expected boolean or "true"/"false" string, received "{start}{rest}""#
    ))
}

/// Reads a text of at most this many bytes.
fn text(value: Option<Value>, max_bytes: usize) -> Result<String, String> {
    let received = match value {
        Some(Value::String(text)) if text.len() <= max_bytes => return Ok(text),
        Some(Value::String(_)) => {
            let problem = format!("Too big: expected string to have <={max_bytes} bytes");
            return Err(problem);
        }
        None => "undefined",
        Some(Value::Null) => "null",
        Some(Value::Bool(_)) => "boolean",
        Some(Value::Number(_)) => "number",
        Some(Value::Array(_)) => "array",
        Some(Value::Object(_)) => "object",
    };
    Err(format!(
        "Invalid input: expected string, received {received}"
    ))
}

fn session(value: Option<Value>) -> Result<Option<SessionId>, String> {
    let max = SessionId::MAX_CHARS;
    let expected =
        || format!("Invalid string: expected 1 to {max} ASCII letters, digits or any of `-_.:`");
    let id = text(value, usize::MAX)?;
    SessionId::named(&id).map(Some).ok_or_else(expected)
}
