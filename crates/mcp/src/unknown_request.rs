//! Requests that rmcp could not read, because the method or the parameters are unknown.

use std::fmt::Display;

use cogwork_text::{Name, OneLine};
use rmcp::ErrorData;
use rmcp::model::{
    CallToolRequestParams, CompleteRequestParams, CustomRequest, ErrorCode, GetPromptRequestParams,
    InitializeRequestParams, ReadResourceRequestParams,
};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// The maximum number of characters of a reason.
const REASON: usize = 200;

/// Returns what is wrong with a request.
pub(crate) fn error(request: &CustomRequest) -> ErrorData {
    match problem(request) {
        Some(problem) => invalid_params(Name(&request.method), &problem),
        None => unknown_method(&request.method),
    }
}

/// Returns why the parameters of a known method can't be read.
fn problem(request: &CustomRequest) -> Option<String> {
    // An error about `null` would be harder to understand than one about a missing field.
    let params = request.params.clone();
    let params = params.unwrap_or_else(|| Value::Object(Map::new()));
    match request.method.as_str() {
        "initialize" => problem_of::<InitializeRequestParams>(params),
        "tools/call" => problem_of::<CallToolRequestParams>(params),
        "resources/read" => problem_of::<ReadResourceRequestParams>(params),
        "prompts/get" => problem_of::<GetPromptRequestParams>(params),
        "completion/complete" => problem_of::<CompleteRequestParams>(params),
        "tools/list" | "resources/list" | "prompts/list" | "resources/templates/list" => {
            Some("expected an object with a string `cursor`".to_owned())
        }
        _ => None,
    }
}

/// Returns the error for a method that doesn't exist.
pub(crate) fn unknown_method(method: &str) -> ErrorData {
    let message = format!("there is no method `{}`", Name(method));
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, message, None)
}

fn problem_of<T: DeserializeOwned>(params: Value) -> Option<String> {
    match serde_json::from_value::<T>(params) {
        Ok(_) => Some("a field of `_meta` has the wrong type".to_owned()),
        Err(error) => Some(error.to_string()),
    }
}

fn invalid_params(method: impl Display, problem: &str) -> ErrorData {
    let problem = OneLine::new(problem).with_max_chars(REASON);
    let message = format!("the parameters of `{method}` cannot be read: {problem}");
    ErrorData::invalid_params(message, None)
}
