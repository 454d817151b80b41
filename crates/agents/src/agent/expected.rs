//! What an agent expects of the last reply: a text, a text with an action, or a value.

use std::fmt;

use cogwork_flow::Action;
use cogwork_flow::watch::note;
use cogwork_llm::backend::Capabilities;
use cogwork_typed::ask::Format;
use cogwork_typed::{AnswerReader, ReadAnswer};
use serde_json::Value as Json;

use super::AgentErrorKind;
use crate::choice::Choice;

/// What is expected of the last reply.
#[derive(Clone, Default)]
pub(super) struct Expected {
    /// Reads a value; without one, a text is expected.
    pub(super) value: Option<AnswerReader<Json>>,
    /// What a text ends with.
    pub(super) choice: Choice,
}

/// Why a reply cannot be used.
pub(super) struct Unusable {
    pub(super) kind: AgentErrorKind,
    /// What is wrong with the reply.
    pub(super) problem: String,
    /// The complaint to the model.
    pub(super) complaint: String,
}

impl fmt::Display for Unusable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.problem)
    }
}

impl Expected {
    /// Returns the instructions to the model, if there are any.
    pub(super) fn instructions(&self, formats: &[Format]) -> Option<String> {
        let Some(reader) = &self.value else {
            return self.choice.instructions();
        };

        // The example that other formats need would be copied by small models.
        let is_enforced = formats.contains(&Format::Schema);
        let format = if is_enforced {
            Format::Schema
        } else {
            Format::Text
        };
        Some(reader.instruction("Answer with", format))
    }

    /// Returns the formats to request, tightest first. Many servers can't combine a format with
    /// tools.
    pub(super) fn formats(&self, capabilities: Capabilities, has_tools: bool) -> Vec<Format> {
        match &self.value {
            Some(reader) if !has_tools => reader.formats(None, capabilities),
            _ => vec![Format::Text],
        }
    }

    /// Reads the value of an answer.
    pub(super) fn read(&self, text: &str) -> Result<ReadAnswer<Json>, AgentErrorKind> {
        let read = match &self.value {
            Some(reader) => reader.read(text),
            None => AnswerReader::text()
                .read(text)
                .map(|read| read.map(Json::from)),
        };
        read.map_err(AgentErrorKind::Unreadable)
    }

    /// Notes in the events of the run how an answer that was accepted had to be corrected.
    pub(super) fn note_repairs(&self, text: &str) {
        for repair in self.read(text).map(|read| read.repairs).unwrap_or_default() {
            note(|| format!("corrected the answer: {repair}"));
        }
    }

    /// Returns the text of an answer, without the line that names the action, and the action.
    pub(super) fn answer(&self, text: &str) -> Result<(String, Action), Unusable> {
        if self.value.is_some() {
            // The value is read again when it is stored, so that a resumed run reads the same.
            self.read(text).map_err(unreadable)?;
        }
        if !self.choice.is_open() {
            return Ok((text.to_owned(), Action::DEFAULT));
        }

        let (before, action) = self.choice.read(text).ok_or_else(|| Unusable {
            kind: AgentErrorKind::NoAction {
                labels: self.choice.labels(),
            },
            problem: "the reply names no action".to_owned(),
            complaint: self.choice.complaint(),
        })?;

        // The answer may consist only of the line with the action.
        let text = match before.is_empty() {
            true => action.as_str().to_owned(),
            false => before,
        };
        Ok((text, action))
    }
}

/// Returns why a reply without text and tool calls can't be used.
pub(super) fn not_empty(text: &str) -> Result<(), Unusable> {
    if !text.trim().is_empty() {
        return Ok(());
    }

    Err(Unusable {
        kind: AgentErrorKind::Empty,
        problem: "the reply is empty".to_owned(),
        complaint: "Your reply is empty. Write your answer.".to_owned(),
    })
}

fn unreadable(kind: AgentErrorKind) -> Unusable {
    let problem = match &kind {
        AgentErrorKind::Unreadable(problem) => problem.to_string(),
        kind => kind.to_string(),
    };
    let complaint = format!(
        "Your reply can't be used: {problem}. Write the whole JSON object again, corrected."
    );
    Unusable {
        kind,
        problem,
        complaint,
    }
}
