use serde::Serialize;

use super::history::History;
use super::in_string::InString;
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

/// The same in the order of the structured content, which is that of the names.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Structured<'a> {
    branches: &'a [String],
    next_thought_needed: bool,
    thought_history_length: u64,
    thought_number: u64,
    total_thoughts: u64,
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

    pub(super) fn structured(&self) -> Structured<'_> {
        Structured {
            branches: &self.branches,
            next_thought_needed: self.next_thought_needed,
            thought_history_length: self.thought_history_length,
            thought_number: self.thought_number,
            total_thoughts: self.total_thoughts,
        }
    }

    /// Appends the result of the call, as rmcp writes it.
    pub(super) fn write_result(&self, json: &mut Vec<u8>) -> serde_json::Result<()> {
        json.extend_from_slice(br#"{"content":[{"type":"text","text":""#);
        self.write_text(json)?;

        json.extend_from_slice(br#""}],"structuredContent":"#);
        serde_json::to_writer(&mut *json, &self.structured())?;
        json.push(b'}');
        Ok(())
    }

    /// Appends [`text`](Self::text) as the content of a JSON string.
    ///
    /// Escaping that text takes several times as long, and would be most of the work of an answer.
    fn write_text(&self, json: &mut Vec<u8>) -> serde_json::Result<()> {
        json.extend_from_slice(br#"{\n  \"thoughtNumber\": "#);
        serde_json::to_writer(&mut *json, &self.thought_number)?;

        json.extend_from_slice(br#",\n  \"totalThoughts\": "#);
        serde_json::to_writer(&mut *json, &self.total_thoughts)?;

        json.extend_from_slice(br#",\n  \"nextThoughtNeeded\": "#);
        serde_json::to_writer(&mut *json, &self.next_thought_needed)?;

        json.extend_from_slice(br#",\n  \"branches\": ["#);
        self.write_branches(json)?;

        json.extend_from_slice(br#"],\n  \"thoughtHistoryLength\": "#);
        serde_json::to_writer(&mut *json, &self.thought_history_length)?;
        json.extend_from_slice(br"\n}");
        Ok(())
    }

    /// Appends the names of branches as the content of a list in a JSON string.
    fn write_branches(&self, json: &mut Vec<u8>) -> serde_json::Result<()> {
        for (index, name) in self.branches.iter().enumerate() {
            if index > 0 {
                json.push(b',');
            }
            json.extend_from_slice(br"\n    ");
            serde_json::to_writer(InString(json), name)?;
        }

        if !self.branches.is_empty() {
            json.extend_from_slice(br"\n  ");
        }
        Ok(())
    }
}
