//! Results of calls, as text and as data.

use std::fmt;

use rmcp::model::{CallToolResponse, CallToolResult, ContentBlock};
use serde::Serialize;
use serde_json::Value;

use super::failure::fields_of;

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
