//! The tools that a server offers.

use std::collections::BTreeMap;

use cogwork_llm::ToolDefinition;
use cogwork_text::Name;
use rmcp::model::{
    ClientRequest, ListToolsRequest, PaginatedRequestParams, RequestOptionalParam, ServerResult,
};
use rmcp::{Peer, RoleClient, ServiceError};
use serde_json::Value;

use super::McpServer;
use crate::tools::cut;

/// The maximum number of tools of a server.
const MAX_TOOLS: usize = 128;

/// The maximum number of pages of a list.
const MAX_PAGES: usize = 100;

/// The maximum number of bytes of a description.
const MAX_DESCRIPTION: usize = 8 * 1024;

/// The maximum length of a schema, in bytes.
const MAX_SCHEMA: usize = 16 * 1024;

/// The tools that a server offers, by their names at the server.
pub(super) type Listing = BTreeMap<String, ToolDefinition>;

/// Why there is no list.
pub(super) enum ListError {
    Service(ServiceError),
    /// The answer isn't a list of tools, or not of those that were named.
    Unexpected(String),
}

/// Asks for the list of tools.
pub(super) async fn ask(server: &McpServer, peer: &Peer<RoleClient>) -> Result<Listing, ListError> {
    let mut listing = Listing::new();
    let mut cursor = None;

    for _ in 0..MAX_PAGES {
        let page = page(peer, cursor).await?;
        let Some(Value::Array(tools)) = page.get("tools") else {
            let problem = "answered a question for its tools without a list";
            return Err(ListError::Unexpected(problem.to_owned()));
        };

        for tool in tools {
            add(server, tool, &mut listing)?;
        }

        cursor = match page.get("nextCursor") {
            Some(Value::String(next)) => Some(next.clone()),
            _ => {
                check(server, &listing)?;
                return Ok(listing);
            }
        };
    }

    Err(ListError::Unexpected(format!(
        "has more than {MAX_PAGES} pages of tools; expected fewer"
    )))
}

/// Adds a tool, unless it can't be used, isn't wanted or is there already.
fn add(server: &McpServer, tool: &Value, listing: &mut Listing) -> Result<(), ListError> {
    let name = tool.get("name").and_then(Value::as_str).unwrap_or_default();
    let is_named = |only: &Vec<String>| only.iter().any(|wanted| wanted == name);
    if !server.only.as_ref().is_none_or(is_named) || listing.contains_key(name) {
        return Ok(());
    }

    match definition(server, name, tool, listing) {
        Ok(definition) => drop(listing.insert(name.to_owned(), definition)),
        Err(reason) if server.only.is_some() => {
            let problem = format!("has a tool `{}` that can't be used: {reason}", Name(name));
            return Err(ListError::Unexpected(problem));
        }
        Err(reason) => tracing::debug!("the tool `{}` can't be used: {reason}", Name(name)),
    }
    Ok(())
}

/// Returns an error if a tool that was named is missing.
fn check(server: &McpServer, listing: &Listing) -> Result<(), ListError> {
    let mut named = server.only.iter().flatten();
    match named.find(|name| !listing.contains_key(*name)) {
        None => Ok(()),
        Some(missing) => Err(ListError::Unexpected(format!(
            "has no tool `{}`; expected one of the tools it has",
            Name(missing)
        ))),
    }
}

/// Returns the definition of a tool, or the reason why it can't be used.
fn definition(
    server: &McpServer,
    name: &str,
    tool: &Value,
    listing: &Listing,
) -> Result<ToolDefinition, String> {
    let shown = exposed_name(server, name)?;
    if listing.values().any(|taken| taken.name() == shown) {
        return Err(format!("there is already a tool `{shown}`"));
    }

    if listing.len() >= MAX_TOOLS {
        return Err(format!(
            "there are too many tools; expected at most {MAX_TOOLS}, or the names of those to use"
        ));
    }

    let schema = input_schema(tool.get("inputSchema"))?;
    let description = tool.get("description").and_then(Value::as_str);
    let description = cut(description.unwrap_or_default().to_owned(), MAX_DESCRIPTION);
    Ok(ToolDefinition::new(shown, description, schema))
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

/// Returns the input schema as text, or what is wrong with it.
fn input_schema(schema: Option<&Value>) -> Result<String, String> {
    let mut fields = match schema {
        Some(Value::Object(fields)) => fields.clone(),
        Some(_) => return Err("its input schema isn't a JSON object".to_owned()),
        None => return Err("it has no input schema".to_owned()),
    };

    // Some servers of models refuse the address of the dialect.
    fields.remove("$schema");
    let kind = fields.entry("type").or_insert_with(|| "object".into());
    if kind != "object" {
        return Err("its input schema isn't that of an object".to_owned());
    }

    let text = Value::Object(fields).to_string();
    match text.len() {
        0..=MAX_SCHEMA => Ok(text),
        length => Err(format!(
            "its input schema has {length} bytes; expected at most {MAX_SCHEMA}"
        )),
    }
}
