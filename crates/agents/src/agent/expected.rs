//! What an agent expects of the last reply: a text, a text with an action, or a value.

use std::fmt;
use std::sync::Arc;

use cogwork_flow::Action;
use cogwork_llm::backend::{Capabilities, Capability};
use cogwork_llm::{ChatResponse, ReplyFormat};
use cogwork_typed::ask::Format;
use cogwork_typed::{AnswerProblem, AnswerReader, ReadAnswer};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value as Json;

use super::AgentErrorKind;
use super::choice::Choice;
use crate::Output;

/// What is expected of the last reply, and how it is read as `T`.
pub(super) struct Expected<T> {
    pub(super) choice: Choice,
    form: Option<Form>,
    read: Arc<Read<T>>,
}

type Read<T> = dyn Fn(&str) -> Result<T, AnswerProblem> + Send + Sync;

/// How the model is asked for a value.
#[derive(Clone)]
struct Form {
    /// For servers that enforce the schema, and for others.
    instructions: [String; 2],
    schema: String,
    flat_schema: Option<String>,
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
        Self {
            choice: self.choice.clone(),
            form: self.form.clone(),
            read: Arc::clone(&self.read),
        }
    }
}

impl Expected<String> {
    pub(super) fn text() -> Self {
        Self {
            choice: Choice::default(),
            form: None,
            read: Arc::new(|text| Ok(text.to_owned())),
        }
    }
}

impl Expected<Json> {
    /// Expects a value that a JSON Schema describes.
    pub(super) fn of_schema(schema: &Json) -> Self {
        Self::value(AnswerReader::of_schema(schema))
    }
}

impl<T: JsonSchema + DeserializeOwned + Send + 'static> Expected<T> {
    /// Expects a value of `T`.
    pub(super) fn typed() -> Self {
        Self::value(AnswerReader::new())
    }

    fn value(reader: AnswerReader<T>) -> Self {
        Self {
            choice: Choice::default(),
            form: Some(Form {
                instructions: [Format::Schema, Format::Text]
                    .map(|format| reader.instruction(format)),
                schema: reader.schema(),
                flat_schema: reader.flat_schema().map(|schema| schema.to_string()),
            }),
            read: Arc::new(move |text| reader.read(text).map(|ReadAnswer { value, .. }| value)),
        }
    }
}

impl<T> Expected<T> {
    /// Returns the instructions to the model, if there are any.
    pub(super) fn instructions(
        &self,
        capabilities: Capabilities,
        has_tools: bool,
    ) -> Option<String> {
        let Some(form) = &self.form else {
            return self.choice.instructions();
        };

        let [with_schema, without] = &form.instructions;
        let is_enforced = !has_tools && capabilities.has(Capability::JsonSchema);
        Some(if is_enforced { with_schema } else { without }.clone())
    }

    /// Returns the formats to request, tightest first. Many servers can't combine a format with
    /// tools.
    pub(super) fn formats(&self, capabilities: Capabilities, has_tools: bool) -> Vec<Format> {
        let Some(form) = self.form.as_ref().filter(|_| !has_tools) else {
            return vec![Format::Text];
        };

        let mut formats = Format::from_first(None, capabilities);
        formats.retain(|format| *format != Format::FlatSchema || form.flat_schema.is_some());
        formats
    }

    pub(super) fn reply_format(&self, format: Format) -> Option<ReplyFormat> {
        let form = self.form.as_ref()?;
        match format {
            Format::Schema => Some(ReplyFormat::schema("answer", form.schema.as_str())),
            Format::FlatSchema => Some(ReplyFormat::schema("answer", form.flat_schema.as_deref()?)),
            Format::Json => Some(ReplyFormat::Json),
            _ => None,
        }
    }

    /// Reads the value of an answer that was accepted.
    pub(super) fn value_of(&self, text: &str) -> Result<T, AgentErrorKind> {
        (self.read)(text).map_err(AgentErrorKind::Unreadable)
    }

    /// Returns the text of an answer, without the line that names the action, and the action.
    pub(super) fn answer(&self, text: &str) -> Result<(String, Action), Unusable> {
        if self.form.is_some() {
            return match (self.read)(text) {
                Ok(_) => Ok((text.to_owned(), Action::DEFAULT)),
                Err(problem) => Err(unreadable(problem)),
            };
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

    /// Completes an answer with what the model said when it was asked for what was missing in it.
    pub(super) fn complete(
        &self,
        mut output: Output,
        asked: Result<ChatResponse, AgentErrorKind>,
    ) -> Result<(Output, Action), AgentErrorKind> {
        let fallback = self.choice.fallback();
        let response = match (asked, fallback) {
            (Ok(response), _) => response,
            (Err(AgentErrorKind::NoAction { .. }), Some(action)) => return Ok((output, action)),
            (Err(kind), _) => return Err(kind),
        };

        let (text, action) = self
            .answer(response.text())
            .map_err(|unusable| unusable.kind)?;
        if self.form.is_some() {
            output.text = text;
            output.truncated = super::answering::is_truncated(&response);
        }
        Ok((output, action))
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
