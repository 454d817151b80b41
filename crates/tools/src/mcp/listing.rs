//! The tools that a server offers.

use std::collections::BTreeMap;

use cogwork_llm::ToolDefinition;
use cogwork_text::{Name, NameList};
use rmcp::model::{
    ClientRequest, ListToolsRequest, PaginatedRequestParams, RequestOptionalParam, ServerResult,
};
use serde_json::Value;

use super::connection::Connection;
use super::{McpError, McpServer};
use crate::check_name;
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

impl Connection {
    /// Asks for the list of tools.
    pub(super) async fn list(&self, server: &McpServer) -> Result<Listing, McpError> {
        let mut listing = Listing::new();
        let mut offered = Vec::new();
        let mut cursor = None;

        // A server may give a cursor for ever.
        for _ in 0..MAX_PAGES {
            let page = self.page(server, cursor).await?;
            let Some(tools) = page.get("tools").and_then(Value::as_array) else {
                let problem = "answered a question for its tools without a list";
                return Err(McpError::new(server, problem));
            };

            for tool in tools {
                offered.extend(tool.get("name").and_then(Value::as_str).map(str::to_owned));
                add(server, tool, &mut listing)?;
            }

            let next = page.get("nextCursor").and_then(Value::as_str);
            cursor = next.map(str::to_owned);
            if cursor.is_none() {
                break;
            }
        }

        if cursor.is_some() {
            let problem = format!("has more than {MAX_PAGES} pages of tools; expected fewer");
            return Err(McpError::new(server, problem));
        }

        // A misspelt name would otherwise be a tool that is missing without notice.
        let mut named = server.only.iter().flatten();
        match named.find(|name| !listing.contains_key(*name)) {
            None => Ok(listing),
            Some(missing) => {
                let (missing, offered) = (Name(missing), NameList::or(&offered));
                let problem = format!("has no tool `{missing}`; expected {offered}");
                Err(McpError::new(server, problem))
            }
        }
    }

    async fn page(&self, server: &McpServer, cursor: Option<String>) -> Result<Value, McpError> {
        let params = cursor.map(|next| PaginatedRequestParams::default().with_cursor(Some(next)));
        let request = ListToolsRequest {
            params,
            ..RequestOptionalParam::default()
        };

        // The typed method fails for the whole list if a single tool is malformed.
        let request = ClientRequest::ListToolsRequest(request);
        match self.peer().send_request(request).await {
            Ok(ServerResult::CustomResult(custom)) => Ok(custom.0),
            Ok(typed) => Ok(serde_json::to_value(typed).unwrap_or_default()),
            Err(error) => {
                let during = "when it was asked for its tools";
                Err(McpError::of_request(server, during, &error))
            }
        }
    }
}

/// Adds a tool, unless it can't be used, isn't wanted or is there already.
fn add(server: &McpServer, tool: &Value, listing: &mut Listing) -> Result<(), McpError> {
    let name = tool.get("name").and_then(Value::as_str).unwrap_or_default();
    let is_named = |only: &Vec<String>| only.iter().any(|wanted| wanted == name);
    // If two tools have the same name, the first one counts.
    if !server.only.as_ref().is_none_or(is_named) || listing.contains_key(name) {
        return Ok(());
    }

    let reason = match definition(server, name, tool) {
        // Two names may become the same one, since dots and slashes are replaced.
        Ok(it) if listing.values().any(|taken| taken.name() == it.name()) => {
            format!("there is already a tool `{}`", it.name())
        }
        Ok(_) if listing.len() >= MAX_TOOLS => format!(
            "there are too many tools; expected at most {MAX_TOOLS}, or the names of those to use"
        ),
        Ok(definition) => {
            listing.insert(name.to_owned(), definition);
            return Ok(());
        }
        Err(reason) => reason,
    };

    let problem = format!("has a tool `{}` that can't be used: {reason}", Name(name));
    let error = McpError::new(server, problem);
    if server.only.is_some() {
        return Err(error);
    }
    // The other tools are still of use.
    tracing::debug!("{error}");
    Ok(())
}

/// Returns the definition of a tool, or the reason why it can't be used.
fn definition(server: &McpServer, name: &str, tool: &Value) -> Result<ToolDefinition, String> {
    let shown = exposed_name(server, name)?;
    let schema = input_schema(tool.get("inputSchema"))?;
    let description = tool.get("description").and_then(Value::as_str);
    let description = cut(description.unwrap_or_default().to_owned(), MAX_DESCRIPTION);
    Ok(ToolDefinition::new(shown, description, schema))
}

/// Returns the name that the model sees. Servers may use dots and slashes, models may not.
pub(super) fn exposed_name(server: &McpServer, name: &str) -> Result<String, String> {
    let name = name.replace(['.', '/'], "_");
    let shown = format!("{}{name}", server.prefix);

    if name.is_empty() || check_name(&shown).is_err() {
        return Err(format!(
            "`{}` is not a valid tool name; expected 1 to 64 letters, digits, `_`, `-`, `.` and `/`",
            Name(&shown)
        ));
    }

    Ok(shown)
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
