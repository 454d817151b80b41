//! Results of calls and refusals, as text and as data.

use std::fmt;

use rmcp::model::{CallToolResponse, CallToolResult, ContentBlock};
use serde::Serialize;
use serde_json::{Map, Value};

use super::operation::Impossible;
use super::report::Report;
use crate::tool::ToolFailure;

/// Returns a result with the text and the fields of what it is about.
pub(crate) fn answer(about: &(impl fmt::Display + Serialize)) -> CallToolResponse {
    described(about.to_string(), Value::Object(fields_of(about)))
}

/// Returns a result with a text and data.
pub(crate) fn described(text: String, data: Value) -> CallToolResponse {
    let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
    result.structured_content = Some(data);
    result.into()
}

impl Impossible {
    /// Returns the failure, with the place where the session still is.
    pub(crate) fn into_failure(self, report: Option<&Report>) -> ToolFailure {
        let message = self.to_string();
        let mut error = self.fields();
        error.insert("message".to_owned(), message.clone().into());

        let mut data = report.map(fields_of).unwrap_or_default();
        data.insert("error".to_owned(), Value::Object(error));
        let text = match report {
            Some(report) => format!("{message}. Nothing has changed.\n{report}"),
            None => message,
        };

        ToolFailure::Described {
            message: text,
            data: Value::Object(data),
        }
    }

    /// Returns the fields of the error, with its `kind`.
    fn fields(&self) -> Map<String, Value> {
        let kind = match self {
            Self::Refused(error) => return fields_of(error),
            Self::NoRules => "strategy",
            Self::AlreadyBegun => "session_exists",
            Self::NotBegun => "no_beginning",
            Self::Full(_) => "full",
        };
        Map::from_iter([("kind".to_owned(), kind.into())])
    }
}

/// Returns the fields of a type that serialises as an object.
pub(crate) fn fields_of(data: &impl Serialize) -> Map<String, Value> {
    match serde_json::to_value(data) {
        Ok(Value::Object(fields)) => fields,
        _ => Map::new(),
    }
}
