//! What an agent expects of the last reply: a text, a text with an action, or a value.

use std::fmt;

use cogwork_flow::Action;
use cogwork_flow::watch::note;
use cogwork_llm::backend::Capabilities;
use cogwork_llm::{ChatRequest, FinishReason};
use cogwork_typed::ask::Format;
use cogwork_typed::{AnswerProblem, AnswerReader};
use serde_json::Value as Json;

use super::AgentErrorKind;
use super::error::because;
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

    /// Returns the request for a reply in a format.
    pub(super) fn request(&self, request: ChatRequest, format: Format) -> ChatRequest {
        let reader = self.value.as_ref();
        match reader.and_then(|reader| reader.reply_format(format, None)) {
            Some(format) => request.with_format(format),
            None => request,
        }
    }

    /// Returns the text of an answer and the action: without the line that names it, or the value as
    /// JSON. Notes in the events of the run how a value had to be corrected.
    pub(super) fn answer(&self, text: &str) -> Result<(String, Action), Unusable> {
        if let Some(reader) = &self.value {
            let read = reader.read(text).map_err(unreadable)?;
            for repair in read.repairs {
                note(|| format!("corrected the answer: {repair}"));
            }

            let text = match read.value {
                Json::String(text) => text,
                value => value.to_string(),
            };
            return Ok((text, Action::DEFAULT));
        }

        not_empty(text, &FinishReason::Stop)?;
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

/// Returns why a reply without text and tool calls can't be used. `reason` is why the model stopped.
pub(super) fn not_empty(text: &str, reason: &FinishReason) -> Result<(), Unusable> {
    if !text.trim().is_empty() {
        return Ok(());
    }

    let kind = AgentErrorKind::Empty {
        reason: reason.clone(),
    };
    let why = because(reason);
    Err(Unusable {
        kind,
        problem: format!("the reply is empty{why}"),
        complaint: format!("Your reply is empty{why}. Write your answer."),
    })
}

fn unreadable(problem: AnswerProblem) -> Unusable {
    let complaint = format!(
        "Your reply can't be used: {problem}. Write the whole JSON object again, corrected."
    );
    Unusable {
        problem: problem.to_string(),
        complaint,
        kind: AgentErrorKind::Unreadable(problem),
    }
}
