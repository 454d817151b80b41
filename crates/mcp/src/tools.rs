//! The tools of a server: the built-in ones that were chosen, and those of the program.

use std::sync::Arc;

use cogwork_llm::ToolDefinition;
use cogwork_text::{Name, NameList};
use cogwork_tools::Tools;
use rmcp::model::{CallToolResult, ContentBlock, JsonObject, Tool};
use serde_json::Value;

use crate::ServerError;
use crate::builder::ServerBuilder;
use crate::failure::Failure;
use crate::solve::Backend;
use crate::store::SessionStore;
use crate::tool::{Caller, ServerTool};
use crate::{guided, sequential, solve, think};

/// The names of all built-in tools, in the order in which they are listed.
const BUILT_IN: [&str; 5] = [
    sequential::NAME,
    guided::NAME,
    think::NAME,
    think::MANAGE,
    solve::NAME,
];

/// All tools of a server.
pub(crate) struct ServerTools {
    built_in: Vec<ServerTool>,
    added: Vec<ServerTool>,
}

impl ServerTools {
    /// Returns the chosen tools.
    ///
    /// # Errors
    ///
    /// Returns an error if a chosen tool doesn't exist or has no model, or if an added one has the
    /// name of another one or isn't ready.
    pub(crate) fn new(store: &SessionStore, settings: &ServerBuilder) -> Result<Self, ServerError> {
        let names = chosen(settings);
        let built_in = names.iter().map(|name| built_in(name, store, settings));
        let built_in: Vec<_> = built_in.collect::<Result<_, _>>()?;

        let tools = Self {
            added: added(&settings.tools)?,
            built_in,
        };
        match tools
            .added
            .iter()
            .find(|tool| tools.has_built_in(tool.name()))
        {
            None => Ok(tools),
            Some(tool) => Err(ServerError::of(format_args!(
                "`{}` is a built-in tool; choose another name, or leave out the built-in one",
                tool.name()
            ))),
        }
    }

    /// Returns the tool of this name.
    pub(crate) fn find(&self, name: &str) -> Option<&ServerTool> {
        let mut tools = self.built_in.iter().chain(&self.added);
        tools.find(|tool| tool.name() == name)
    }

    /// Returns what clients see.
    pub(crate) fn definitions(&self) -> impl Iterator<Item = &Tool> + Clone {
        let tools = self.built_in.iter().chain(&self.added);
        tools.map(|tool| &tool.definition)
    }

    /// Returns whether there is a built-in tool of this name.
    pub(crate) fn has_built_in(&self, name: &str) -> bool {
        self.built_in.iter().any(|tool| tool.name() == name)
    }

    /// Returns whether there are any built-in tools.
    pub(crate) fn has_built_in_ones(&self) -> bool {
        !self.built_in.is_empty()
    }
}

impl ServerTool {
    fn name(&self) -> &str {
        &self.definition.name
    }
}

/// Returns the names of the built-in tools that the server has.
fn chosen(settings: &ServerBuilder) -> Vec<String> {
    if let Some(names) = &settings.built_in_tools {
        return names.clone();
    }

    let usual = [sequential::NAME, guided::NAME].into_iter();
    // Whoever names a flow wants it to be called.
    let solve = settings.solve.has_flow().then_some(solve::NAME);
    usual.chain(solve).map(str::to_owned).collect()
}

fn built_in(
    name: &str,
    store: &SessionStore,
    settings: &ServerBuilder,
) -> Result<ServerTool, ServerError> {
    let store = store.clone();
    Ok(match name {
        sequential::NAME => sequential::tool(store),
        guided::NAME => guided::tool(store),
        think::NAME => think::tool(store),
        think::MANAGE => think::manage_tool(store),
        solve::NAME => solve::tool(store, Backend::new(&settings.solve)?),
        unknown => {
            return Err(ServerError::of(format_args!(
                "there is no built-in tool `{}`; expected {}",
                Name(unknown),
                NameList::or(BUILT_IN)
            )));
        }
    })
}

/// Returns the tools of a program.
fn added(tools: &Tools) -> Result<Vec<ServerTool>, ServerError> {
    // A server of tools that cannot start is reported when this one starts.
    tools.ready().map_err(ServerError::of)?;

    let tools = Arc::new(tools.clone());
    let added = tools.definitions().map(|definition| {
        let listed = listed(&definition)?;
        let tools = Arc::clone(&tools);
        Ok(ServerTool::new(listed, move |arguments, caller| {
            call(Arc::clone(&tools), definition.clone(), arguments, caller)
        }))
    });
    added.collect()
}

async fn call(
    tools: Arc<Tools>,
    definition: ToolDefinition,
    arguments: JsonObject,
    caller: Caller,
) -> Result<CallToolResult, Failure> {
    let input = Value::Object(arguments);
    let output = tokio::select! {
        output = tools.call_with(definition.name(), None, input) => output,
        // Nobody reads this, but the call of the tool is dropped.
        () = caller.request.ct.cancelled() => return Err(Failure::new("the call was cancelled")),
    };

    let text = output.map_err(Failure::new)?;
    Ok(CallToolResult::success(vec![ContentBlock::text(text)]))
}

/// Returns the definition for clients.
fn listed(definition: &ToolDefinition) -> Result<Tool, ServerError> {
    let name = definition.name().to_owned();
    let schema = serde_json::from_str::<JsonObject>(definition.input_schema());
    let mut schema = schema.map_err(|error| {
        ServerError::of(format_args!(
            "the input schema of the tool `{name}`: {error}"
        ))
    })?;

    // The protocol demands it, and some libraries leave it out.
    let schema_type = schema.entry("type").or_insert_with(|| "object".into());
    if schema_type != "object" {
        return Err(ServerError::of(format_args!(
            "the input schema of the tool `{name}` has the type {schema_type}; expected \"object\""
        )));
    }
    Ok(Tool::new(name, definition.description().to_owned(), schema))
}
