//! A call of a tool, and its result as text.

use cogwork_text::OneLine;
use rmcp::ServiceError;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorCode,
};
use serde_json::{Map, Value};

use super::connection::Connection;
use super::{McpError, McpServer};
use crate::ToolError;

impl Connection {
    /// Calls a tool by its name at the server. If this is dropped, the call is cancelled there.
    pub(super) async fn call(
        &self,
        server: &McpServer,
        name: &str,
        input: Value,
    ) -> Result<String, ToolError> {
        let arguments = match input {
            Value::Object(fields) => fields,
            Value::Null => Map::new(),
            _ => {
                let problem = "the arguments are not an object; expected one";
                return Err(ToolError::input(problem));
            }
        };

        let params = CallToolRequestParams::new(name.to_owned()).with_arguments(arguments);
        match self.peer().call_tool_once(params).await {
            Ok(response) => answer(response),
            // The model can correct its arguments, but not the server.
            Err(ServiceError::McpError(error)) if error.code == ErrorCode::INVALID_PARAMS => {
                Err(ToolError::input(&error.message))
            }
            Err(error) => Err(McpError::of_request(server, "during the call", &error).into()),
        }
    }
}

fn answer(response: CallToolResponse) -> Result<String, ToolError> {
    let CallToolResponse::Complete(result) = response else {
        return Err(ToolError::unavailable(
            "it asks for input or wants to answer later, which isn't supported",
        ));
    };

    let text = text(&result);
    // An error of the tool itself, which the model reads like a result.
    if result.is_error == Some(true) {
        return Err(ToolError::failed(text));
    }
    Ok(text)
}

/// Returns what the model reads.
fn text(result: &CallToolResult) -> String {
    let mut parts: Vec<String> = result.content.iter().map(part).collect();

    // Servers should repeat the structured content as text. Not all of them do, and it may be in
    // other words.
    let has_text = result.content.iter().any(|block| block.as_text().is_some());
    let structured = result.structured_content.as_ref().filter(|_| !has_text);
    parts.extend(structured.map(Value::to_string));

    if parts.is_empty() {
        return "[no content]".to_owned();
    }
    parts.join("\n")
}

/// Returns a text as it is, and what other content is, such as `[image image/png]`.
fn part(block: &ContentBlock) -> String {
    if let Some(text) = block.as_text() {
        return text.text.clone();
    }

    // All kinds have the same names for the same things in JSON.
    let json = serde_json::to_value(block).unwrap_or_default();
    let content = json.get("resource").unwrap_or(&json);
    let field = |name| content.get(name).and_then(Value::as_str);

    let kind = json.get("type").and_then(Value::as_str);
    let names = ["uri", "name", "mimeType"].into_iter().filter_map(field);
    let words: Vec<_> = kind
        .into_iter()
        .chain(names)
        .map(|word| OneLine::new(word).with_max_chars(200).to_string())
        .collect();
    let words = words.join(" ");

    match field("text") {
        Some(text) => format!("[{words}]\n{text}"),
        None => format!("[{words}]"),
    }
}
