//! A call of a tool, and its result as text.

use cogwork_text::OneLine;
use rmcp::ServiceError;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorCode,
    ResourceContents,
};
use serde_json::{Map, Value};

use super::link::Link;
use crate::ToolError;

impl Link {
    /// Calls a tool by its name at the server.
    pub(super) async fn call(&self, name: &str, input: Value) -> Result<String, ToolError> {
        let limit = self.server.timeout;
        let called = tokio::time::timeout(limit, self.call_now(name, input)).await;
        called.unwrap_or_else(|_| {
            Err(ToolError::Timeout {
                tool: String::new(),
                limit,
            })
        })
    }

    async fn call_now(&self, name: &str, input: Value) -> Result<String, ToolError> {
        let connection = self.connection().await?;
        let params = CallToolRequestParams::new(name.to_owned()).with_arguments(arguments(input)?);
        let response = match connection.peer().call_tool_once(params).await {
            Ok(response) => response,
            Err(ServiceError::McpError(error)) if error.code == ErrorCode::INVALID_PARAMS => {
                return Err(ToolError::input(&error.message));
            }
            Err(error) => {
                let during = "during the call";
                let error = connection.failed(&self.server, during, &error).await;
                return Err(error.into());
            }
        };

        answer(response)
    }
}

fn arguments(input: Value) -> Result<Map<String, Value>, ToolError> {
    match input {
        Value::Object(fields) => Ok(fields),
        Value::Null => Ok(Map::new()),
        _ => Err(ToolError::input(
            "the arguments are not an object; expected one",
        )),
    }
}

fn answer(response: CallToolResponse) -> Result<String, ToolError> {
    let result = match response {
        CallToolResponse::Complete(result) => result,
        CallToolResponse::InputRequired(_) => {
            return Err(ToolError::unavailable(
                "it asks for input from a person or a model, which isn't supported",
            ));
        }
        _ => {
            return Err(ToolError::unavailable(
                "it wants to answer later, which isn't supported",
            ));
        }
    };

    let text = text(&result);
    if result.is_error == Some(true) {
        return Err(ToolError::failed(text));
    }
    Ok(text)
}

/// What the model reads of content that only later versions of the protocol have.
const UNKNOWN: &str = "[content of an unknown type]";

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

fn part(block: &ContentBlock) -> String {
    match block {
        ContentBlock::Text(text) => text.text.clone(),
        ContentBlock::Image(image) => data("image", &image.mime_type, &image.data),
        ContentBlock::Audio(audio) => data("audio", &audio.mime_type, &audio.data),
        ContentBlock::Resource(embedded) => resource(&embedded.resource),
        ContentBlock::ResourceLink(link) => {
            format!("[resource {}: {}]", short(&link.uri), short(&link.name))
        }
        _ => UNKNOWN.to_owned(),
    }
}

fn resource(contents: &ResourceContents) -> String {
    match contents {
        ResourceContents::TextResourceContents { uri, text, .. } => {
            format!("[resource {}]\n{text}", short(uri))
        }
        ResourceContents::BlobResourceContents {
            uri,
            mime_type,
            blob,
            ..
        } => {
            let kind = mime_type.as_deref().unwrap_or("data");
            data(&format!("resource {}:", short(uri)), kind, blob)
        }
        _ => UNKNOWN.to_owned(),
    }
}

fn data(what: &str, mime_type: &str, base64: &str) -> String {
    let bytes = decoded_length(base64);
    format!("[{what} {}, {bytes} bytes]", short(mime_type))
}

/// Returns the number of bytes that the Base64 text stands for.
fn decoded_length(base64: &str) -> usize {
    let digits = base64.trim_end_matches('=').len();
    digits / 4 * 3 + digits % 4 * 3 / 4
}

/// Shortens a text that is expected to be short.
fn short(text: &str) -> String {
    OneLine::new(text).with_max_chars(200).to_string()
}
