//! The tools that a server offers.

use std::collections::BTreeMap;

use cogwork_llm::ToolDefinition;
use cogwork_text::{Name, OneLine};
use rmcp::model::{
    ClientRequest, ListToolsRequest, PaginatedRequestParams, RequestOptionalParam, ServerResult,
};
use rmcp::{Peer, RoleClient, ServiceError};
use serde_json::{Map, Value};

use super::McpServer;
use crate::tools::cut;

/// The maximum number of tools of a server.
const MAX_TOOLS: usize = 128;

/// The maximum number of pages of a list.
const MAX_PAGES: usize = 100;

/// The maximum number of bytes of a description.
const MAX_DESCRIPTION: usize = 8 * 1024;

/// The maximum number of refused tools that are kept.
const MAX_REFUSED: usize = 100;

/// A tool of a server that can't be used.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RefusedTool {
    /// The name of the tool at the server, of at most 200 characters.
    pub name: String,
    /// What is wrong with it.
    pub reason: String,
}

/// What a server offers.
#[derive(Debug, Default)]
pub(super) struct Listing {
    /// By the name at the server.
    pub(super) tools: BTreeMap<String, ToolDefinition>,
    pub(super) refused: Vec<RefusedTool>,
}

/// Why there is no list.
pub(super) enum ListError {
    Service(ServiceError),
    /// The answer isn't a list of tools.
    Unexpected(String),
}

impl Listing {
    /// Asks for the list of tools.
    pub(super) async fn ask(
        server: &McpServer,
        peer: &Peer<RoleClient>,
    ) -> Result<Self, ListError> {
        let mut listing = Self::default();
        let mut cursor = None;

        for _ in 0..MAX_PAGES {
            let page = page(peer, cursor).await?;
            let Some(Value::Array(tools)) = page.get("tools") else {
                return Err(ListError::Unexpected(
                    "answered a question for its tools without a list".to_owned(),
                ));
            };

            for tool in tools {
                listing.add(server, tool);
            }

            cursor = match page.get("nextCursor") {
                Some(Value::String(next)) => Some(next.clone()),
                _ => return Ok(listing),
            };
        }

        Err(ListError::Unexpected(format!(
            "has more than {MAX_PAGES} pages of tools; expected fewer"
        )))
    }

    fn add(&mut self, server: &McpServer, tool: &Value) {
        let name = tool.get("name").and_then(Value::as_str).unwrap_or_default();
        if let Some(only) = &server.only
            && !only.iter().any(|allowed| allowed == name)
        {
            return;
        }

        match self.read(server, name, tool) {
            Ok(definition) => {
                self.tools.insert(name.to_owned(), definition);
            }
            Err(reason) if self.refused.len() < MAX_REFUSED => {
                let name = OneLine::new(name).with_max_chars(200).to_string();
                self.refused.push(RefusedTool { name, reason });
            }
            Err(_) => {}
        }
    }

    /// Returns the definition of a tool, or the reason why it can't be used.
    fn read(&self, server: &McpServer, name: &str, tool: &Value) -> Result<ToolDefinition, String> {
        let shown = exposed_name(server, name)?;
        let mut names = self.tools.values().map(ToolDefinition::name);
        if names.any(|taken| taken == shown) {
            return Err(format!("there is already a tool `{shown}`"));
        }

        if self.tools.len() >= MAX_TOOLS {
            return Err(format!(
                "there are too many tools; expected at most {MAX_TOOLS}, or the names of those to use"
            ));
        }

        let schema = input_schema(tool.get("inputSchema"))?;
        let description = tool.get("description").and_then(Value::as_str);
        let description = cut(description.unwrap_or_default().to_owned(), MAX_DESCRIPTION);
        Ok(ToolDefinition::new(shown, description, schema))
    }
}

/// Returns the name that the model sees. Servers may use dots and slashes, models may not.
pub(super) fn exposed_name(server: &McpServer, name: &str) -> Result<String, String> {
    let name = name.replace(['.', '/'], "_");
    let shown = format!("{}{name}", server.prefix);
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');

    if name.is_empty() || shown.len() > 64 || !shown.chars().all(is_part) {
        return Err(format!(
            "`{}` is not a valid tool name; expected 1 to 64 letters, digits, `_`, `-`, `.` and `/`",
            Name(&shown)
        ));
    }

    Ok(shown)
}

async fn page(peer: &Peer<RoleClient>, cursor: Option<String>) -> Result<Value, ListError> {
    let params = cursor.map(|cursor| PaginatedRequestParams::default().with_cursor(Some(cursor)));
    let request = ListToolsRequest {
        params,
        ..RequestOptionalParam::default()
    };

    // The typed method fails for the whole list if a single tool is malformed.
    let request = ClientRequest::ListToolsRequest(request);
    let answer = peer.send_request(request).await;

    match answer.map_err(ListError::Service)? {
        ServerResult::CustomResult(custom) => Ok(custom.0),
        typed => serde_json::to_value(typed)
            .map_err(|error| ListError::Unexpected(format!("sent a list of tools: {error}"))),
    }
}

/// The maximum nesting depth of a schema.
const MAX_SCHEMA_DEPTH: usize = 32;

/// The maximum length of a schema, in bytes.
const MAX_SCHEMA_BYTES: usize = 16 * 1024;

/// Returns the input schema as text, or what is wrong with it.
fn input_schema(schema: Option<&Value>) -> Result<String, String> {
    let fields = match schema {
        Some(Value::Object(fields)) => fields,
        Some(_) => return Err("its input schema isn't a JSON object".to_owned()),
        None => return Err("it has no input schema".to_owned()),
    };

    match fields.get("type") {
        None => {}
        Some(Value::String(name)) if name == "object" => {}
        Some(_) => return Err("its input schema isn't that of an object".to_owned()),
    }

    if !fields
        .values()
        .all(|value| is_flat(value, MAX_SCHEMA_DEPTH - 1))
    {
        return Err(format!(
            "its input schema is nested deeper than {MAX_SCHEMA_DEPTH} levels"
        ));
    }

    let text = as_text(fields);
    if text.len() > MAX_SCHEMA_BYTES {
        let length = text.len();
        return Err(format!(
            "its input schema has {length} bytes; expected at most {MAX_SCHEMA_BYTES}"
        ));
    }

    Ok(text)
}

/// Adds a missing type, and removes the address of the dialect, which some servers of models refuse.
fn as_text(fields: &Map<String, Value>) -> String {
    let mut fields = fields.clone();
    fields.remove("$schema");
    fields
        .entry("type")
        .or_insert_with(|| Value::from("object"));

    Value::Object(fields).to_string()
}

/// Returns whether a value has at most this many levels.
fn is_flat(value: &Value, levels: usize) -> bool {
    let is_nested = value.is_array() || value.is_object();
    let Some(below) = levels.checked_sub(1) else {
        return !is_nested;
    };

    match value {
        Value::Array(items) => items.iter().all(|item| is_flat(item, below)),
        Value::Object(fields) => fields.values().all(|field| is_flat(field, below)),
        _ => true,
    }
}
