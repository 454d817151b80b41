//! A call of a tool.

use rmcp::ServiceError;
use rmcp::model::{CallToolRequestParams, CallToolResponse, ErrorCode};
use serde_json::{Map, Value};

use super::link::Link;
use super::result;
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
        let listing = self.listing();
        if !listing.is_some_and(|listing| listing.tools.contains_key(name)) {
            return Err(ToolError::unavailable(
                "the server doesn't offer it any more",
            ));
        }

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

        self.succeeded();
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

    let text = result::text(&result);
    if result.is_error == Some(true) {
        return Err(ToolError::failed(text));
    }
    Ok(text)
}
