//! Reading the arguments of a call.

use rmcp::model::JsonObject;
use serde_json::Value;

use super::coerce::{self, Problems};
use super::thought::Thought;
use crate::store::SessionId;

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
        max_bytes,
        problems: Problems::new(),
    };

    // In the order in which the original lists problems.
    let thought = reading.text("thought");
    let next_thought_needed = reading.boolean("nextThoughtNeeded");
    let thought_number = reading.integer("thoughtNumber");
    let total_thoughts = reading.integer("totalThoughts");
    let is_revision = reading.if_there("isRevision", Reading::boolean);
    let revises_thought = reading.if_there("revisesThought", Reading::integer);
    let branch_from_thought = reading.if_there("branchFromThought", Reading::integer);
    let branch_id = reading.if_there("branchId", Reading::text);
    let needs_more_thoughts = reading.if_there("needsMoreThoughts", Reading::boolean);
    let session = reading.session();

    if !reading.problems.is_empty() {
        let problems = reading.problems.join("\n");
        return Err(format!("{PREFIX}{problems}"));
    }

    let thought = Thought {
        thought,
        thought_number,
        total_thoughts: total_thoughts.max(thought_number),
        next_thought_needed,
        is_revision,
        revises_thought,
        branch_from_thought,
        branch_id,
        needs_more_thoughts,
    };
    Ok(Arguments { thought, session })
}

/// Arguments, and the problems that were found in them.
struct Reading {
    values: JsonObject,
    max_bytes: usize,
    problems: Problems,
}

impl Reading {
    fn text(&mut self, name: &str) -> String {
        let text = coerce::text(self.values.remove(name), self.max_bytes);
        self.checked(name, text)
    }

    fn boolean(&mut self, name: &str) -> bool {
        let boolean = coerce::boolean(self.values.get(name));
        self.checked(name, boolean)
    }

    fn integer(&mut self, name: &str) -> u64 {
        let integer = coerce::integer(self.values.get(name));
        self.checked(name, integer)
    }

    /// Reads an argument that isn't required. The value null isn't the same as no argument.
    fn if_there<T>(&mut self, name: &str, read: impl FnOnce(&mut Self, &str) -> T) -> Option<T> {
        self.values.contains_key(name).then(|| read(self, name))
    }

    /// Reads the id of a session, which the original ignores.
    fn session(&mut self) -> Option<SessionId> {
        let name = "sessionId";
        if self.values.get(name).is_none_or(Value::is_null) {
            return None;
        }

        let id = coerce::text(self.values.remove(name), self.max_bytes);
        let id = id.and_then(|id| SessionId::named(&id).ok_or_else(not_an_id));
        self.checked(name, id.map(Some))
    }

    /// Returns the value, or any value if there are problems.
    fn checked<T: Default>(&mut self, name: &str, result: Result<T, Problems>) -> T {
        result.unwrap_or_else(|problems| {
            let lines = problems
                .iter()
                .map(|problem| format!("{problem} at {name}"));
            self.problems.extend(lines);
            T::default()
        })
    }
}

fn not_an_id() -> Problems {
    let max = SessionId::MAX_CHARS;
    let problem =
        format!("Invalid string: expected 1 to {max} ASCII letters, digits or any of `-_.:`");
    vec![problem]
}
