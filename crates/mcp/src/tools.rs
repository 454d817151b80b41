//! The tools of a server.

use cogwork_text::{Name, NameList};
use rmcp::model::Tool;

use crate::ServerError;
use crate::added::AddedTool;
use crate::builder::ServerBuilder;
use crate::prompts::Way;
use crate::sequential::SequentialThinking;
use crate::solve::{Solve, Tasks};
use crate::store::SessionStore;
use crate::tool::{ListedTool, ServerTool};

/// All tools of a server.
pub(crate) struct ServerTools {
    built_in: Vec<ListedTool>,
    added: Vec<ListedTool>,
}

impl ServerTools {
    /// Returns the chosen tools.
    ///
    /// # Errors
    ///
    /// Returns an error if a chosen tool doesn't exist, if an added one has the name of another
    /// one, or if it isn't ready.
    pub(crate) fn new(
        store: &SessionStore,
        settings: &ServerBuilder,
        tasks: &Tasks,
    ) -> Result<Self, ServerError> {
        let listed = |tool: Box<dyn ServerTool>| ListedTool {
            definition: tool.definition(),
            tool,
        };
        let built_in = built_in(store, settings, tasks);
        let mut built_in: Vec<_> = built_in.into_iter().map(listed).collect();
        if let Some(chosen) = &settings.built_in_tools {
            check_names(chosen, &built_in)?;
            built_in.retain(|tool| chosen.iter().any(|name| tool.definition.name == *name));
        }

        let added = AddedTool::all(&settings.tools)?;
        let added = added.into_iter().map(|tool| listed(Box::new(tool)));
        let tools = Self {
            added: added.collect(),
            built_in,
        };
        tools.check_added()?;
        Ok(tools)
    }

    fn check_added(&self) -> Result<(), ServerError> {
        let mut added = self.added.iter().map(|tool| &tool.definition.name);
        let Some(name) = added.find(|name| self.has_built_in(name)) else {
            return Ok(());
        };
        Err(ServerError::of(format_args!(
            "`{name}` is a built-in tool; choose another name, or leave out the built-in one"
        )))
    }

    /// Returns the tool of this name.
    pub(crate) fn find(&self, name: &str) -> Option<&ListedTool> {
        let mut tools = self.built_in.iter().chain(&self.added);
        tools.find(|tool| tool.definition.name == name)
    }

    /// Returns what clients see.
    pub(crate) fn listed(&self) -> impl Iterator<Item = &Tool> + Clone {
        let tools = self.built_in.iter().chain(&self.added);
        tools
            .filter(|tool| tool.tool.is_listed())
            .map(|tool| &tool.definition)
    }

    /// Returns whether there is a built-in tool of this name, which clients may not see.
    fn has_built_in(&self, name: &str) -> bool {
        let mut tools = self.built_in.iter();
        tools.any(|tool| tool.definition.name == name)
    }

    /// Returns whether clients see a built-in tool of this name.
    pub(crate) fn lists_built_in(&self, name: &str) -> bool {
        let mut tools = self.built_in.iter().filter(|tool| tool.tool.is_listed());
        tools.any(|tool| tool.definition.name == name)
    }

    /// Returns whether there are any built-in tools.
    pub(crate) fn has_built_in_ones(&self) -> bool {
        !self.built_in.is_empty()
    }

    /// Returns the ways to follow a strategy with these tools.
    pub(crate) fn ways(&self) -> Vec<Way> {
        let is_offered = |way: &Way| way.tools().iter().all(|name| self.lists_built_in(name));
        Way::ALL.into_iter().filter(is_offered).collect()
    }
}

/// Returns the built-in tools, in the order in which they are listed.
fn built_in(
    store: &SessionStore,
    settings: &ServerBuilder,
    tasks: &Tasks,
) -> Vec<Box<dyn ServerTool>> {
    let sequential = SequentialThinking::new(store.clone(), settings.is_strict);

    let mut tools: Vec<Box<dyn ServerTool>> = vec![Box::new(sequential)];
    tools.extend(crate::think::tools(store));
    tools.extend(crate::guided::tools(store));
    tools.push(Box::new(Solve::new(store, &settings.solve, tasks)));
    tools
}

fn check_names(chosen: &[String], built_in: &[ListedTool]) -> Result<(), ServerError> {
    let exists = |name: &&String| built_in.iter().any(|tool| tool.definition.name == **name);
    let Some(unknown) = chosen.iter().find(|name| !exists(name)) else {
        return Ok(());
    };

    let unknown = Name(unknown);
    let known = NameList::or(built_in.iter().map(|tool| &tool.definition.name));
    Err(ServerError::of(format_args!(
        "there is no built-in tool `{unknown}`; expected {known}"
    )))
}
