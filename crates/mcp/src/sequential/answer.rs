use serde::Serialize;

use super::history::History;
use super::thought::Thought;

/// The result of a call. Its fields are in the order in which the text has them.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Answer {
    thought_number: u64,
    total_thoughts: u64,
    next_thought_needed: bool,
    branches: Vec<String>,
    thought_history_length: u64,
}

impl Answer {
    /// Returns the answer to a thought that has been recorded.
    pub(super) fn new(thought: &Thought, history: &History) -> Self {
        Self {
            thought_number: thought.thought_number,
            total_thoughts: thought.total_thoughts,
            next_thought_needed: thought.next_thought_needed,
            branches: history.branches().names(),
            thought_history_length: history.total(),
        }
    }

    pub(super) fn text(&self) -> serde_json::Result<String> {
        serde_json::to_string_pretty(self)
    }
}
