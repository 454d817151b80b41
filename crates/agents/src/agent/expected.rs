//! What an agent expects of the last reply: a text, a text with an action, or a value.

use std::fmt;

use cogwork_flow::Action;
use cogwork_llm::ReplyFormat;
use cogwork_llm::backend::Capabilities;
use cogwork_typed::ask::Format;
use cogwork_typed::{AnswerProblem, AnswerReader};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use super::AgentErrorKind;
use super::choice::Choice;

/// What is expected of the last reply, and how it becomes a `T`.
pub(super) enum Expected<T> {
    Text {
        choice: Choice,
        value: fn(String) -> T,
    },
    Value(AnswerReader<T>),
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

impl<T> Clone for Expected<T> {
    fn clone(&self) -> Self {
        match self {
            Self::Text { choice, value } => Self::Text {
                choice: choice.clone(),
                value: *value,
            },
            Self::Value(reader) => Self::Value(reader.clone()),
        }
    }
}

impl Expected<String> {
    pub(super) fn text(choice: Choice) -> Self {
        Self::Text {
            choice,
            value: |text| text,
        }
    }
}

impl<T> Expected<T> {
    pub(super) fn actions(&self) -> Vec<Action> {
        match self {
            Self::Text { choice, .. } => choice.actions(),
            Self::Value(_) => vec![Action::DEFAULT],
        }
    }
}

impl<T: JsonSchema + DeserializeOwned> Expected<T> {
    /// Returns the instructions to the model, if there are any.
    pub(super) fn instructions(&self, formats: &[Format]) -> Option<String> {
        match self {
            Self::Text { choice, .. } => choice.instructions(),
            Self::Value(reader) => {
                let format = formats.iter().find(|format| **format == Format::Schema);
                Some(reader.instruction(*format.unwrap_or(&Format::Text)))
            }
        }
    }

    /// Returns the formats to request, tightest first. Many servers can't combine a format with
    /// tools.
    pub(super) fn formats(&self, capabilities: Capabilities, has_tools: bool) -> Vec<Format> {
        let reader = match self {
            Self::Value(reader) if !has_tools => reader,
            _ => return vec![Format::Text],
        };

        let has_flat = reader.flat_schema().is_some();
        let mut formats = Format::from_first(None, capabilities);
        formats.retain(|format| *format != Format::FlatSchema || has_flat);
        formats
    }

    pub(super) fn reply_format(&self, format: Format) -> Option<ReplyFormat> {
        let Self::Value(reader) = self else {
            return None;
        };

        let schema = match format {
            Format::Schema => reader.schema(),
            Format::FlatSchema => reader.flat_schema()?.to_string(),
            Format::Json => return Some(ReplyFormat::Json),
            _ => return None,
        };
        Some(ReplyFormat::schema("answer", schema))
    }

    /// Reads the value of an answer that was accepted.
    pub(super) fn value_of(&self, text: &str) -> Result<T, AgentErrorKind> {
        match self {
            Self::Text { value, .. } => Ok(value(text.to_owned())),
            Self::Value(reader) => match reader.read(text) {
                Ok(read) => Ok(read.value),
                Err(problem) => Err(AgentErrorKind::Unreadable(problem)),
            },
        }
    }

    /// Returns the text of an answer, without the line that names the action, and the action.
    pub(super) fn answer(&self, text: &str) -> Result<(String, Action), Unusable> {
        let choice = match self {
            Self::Value(reader) => {
                reader.read(text).map_err(unreadable)?;
                return Ok((text.to_owned(), Action::DEFAULT));
            }
            Self::Text { choice, .. } if !choice.is_open() => {
                return Ok((text.to_owned(), Action::DEFAULT));
            }
            Self::Text { choice, .. } => choice,
        };

        let (before, action) = choice.read(text).ok_or_else(|| Unusable {
            kind: AgentErrorKind::NoAction {
                labels: choice.labels(),
            },
            problem: "the reply names no action".to_owned(),
            complaint: choice.complaint(),
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

fn unreadable(problem: AnswerProblem) -> Unusable {
    let complaint = format!(
        "Your reply can't be used: {problem}. Write the whole JSON object again, corrected."
    );
    Unusable {
        problem: problem.to_string(),
        kind: AgentErrorKind::Unreadable(problem),
        complaint,
    }
}
