use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use cogwork_llm::LlmClient;
use cogwork_thinking::Registry;
use cogwork_tools::Tools;
use serde_json::Value as Json;

use crate::load::Loading;
use crate::quote::{Name, list};
use crate::yaml::Environment;
use crate::{FileError, FileFlow, NodeType, Provider, node_types, providers, schema};

/// Loads flows from YAML files. It holds the providers, node types, thinking modes and tools that
/// files can name.
///
/// The guide `flows-from-files` describes the format, and [`schema`](Self::schema) returns it for
/// editors. A file is checked completely, and all problems are reported at once with file, line,
/// column and path.
///
/// `${NAME}` in a text is replaced with a value from the [environment](Self::with_environment);
/// `$$` is replaced with a dollar sign. Values from the environment are secrets: [no part of
/// them](FileFlow::hide_secrets) appears in an error, including those of clients during a run, in a
/// drawing or in the schema.
///
/// ```
/// use cogwork_agents::{FlowState, Loader};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let loaded = Loader::new().load_text("greeting.yaml", "
/// nodes:
///   - id: greeter
///     type: agent
///     config:
///       provider: rules
///       rules: [{when: morning, reply: Good morning!}]
///       else: Hello!
/// ")?;
/// let mut state = FlowState::new("It is morning.");
/// loaded.flow().run(&mut state).await?;
/// assert_eq!(state.last().text, "Good morning!");
///
/// let error = Loader::new().load_text("greeting.yaml", "
/// nodes:
///   - id: greeter
///     type: agnet
///   - id: greeter
///     type: agent
///     config: {provider: rules, rules: [], temperature: warm}
/// ").unwrap_err();
/// assert_eq!(format!("{error:#}"), "\
/// greeting.yaml:4:11: nodes[0].type: unknown node type `agnet`; known node types: `agent`, `branches`, `chain_of_thought`, `map`, `strategy`, `subflow`, `template`, `tool`, `wait`; did you mean `agent`?
/// greeting.yaml:5:9: nodes[1].id: line 3 already has a node with the id `greeter`; choose another id
/// greeting.yaml:7:55: nodes[1].config.temperature: expected a number, found a text");
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Loader {
    pub(crate) providers: BTreeMap<String, Provider>,
    pub(crate) node_types: BTreeMap<String, NodeType>,
    pub(crate) tools: Tools,
    pub(crate) modes: Registry,
    pub(crate) environment: Environment,
    pub(crate) connects: bool,
    /// The model in place of those that the files name.
    pub(crate) model: Option<String>,
    pub(crate) wrapper: Option<Arc<Wrapper>>,
}

/// Wraps the client of the node with an id.
type Wrapper = dyn Fn(&str, Arc<dyn LlmClient>) -> Arc<dyn LlmClient> + Send + Sync;

/// An error that occurs when something is added to a [`Loader`].
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LoaderError {
    /// The name is already in use.
    #[error(
        "the {kind} `{}` already exists; known {kind}s: {}; choose another name",
        Name(name),
        list(known)
    )]
    NameTaken {
        /// `provider` or `node type`.
        kind: &'static str,
        /// The name.
        name: String,
        /// The existing names.
        known: Vec<String>,
    },
}

cogwork_text::debug_as_display!(LoaderError);

impl Default for Loader {
    fn default() -> Self {
        Self::new()
    }
}

impl Loader {
    /// Creates a loader with the built-in providers and node types, without tools, and with an
    /// empty environment.
    pub fn new() -> Self {
        Self {
            providers: by_name(providers::built_in(), Provider::name),
            node_types: by_name(node_types::built_in(), NodeType::name),
            tools: Tools::new(),
            modes: Registry::with_built_in(),
            environment: Arc::new(|_: &str| None),
            connects: true,
            model: None,
            wrapper: None,
        }
    }

    /// Sets how the value of `${NAME}` is looked up. By default, no variable is set.
    #[must_use]
    pub fn with_environment(
        mut self,
        lookup: impl Fn(&str) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        self.environment = Arc::new(lookup);
        self
    }

    /// Looks up `${NAME}` in the environment of the process. Variables that are not valid UTF-8 are
    /// treated as unset.
    #[must_use]
    pub fn with_process_environment(self) -> Self {
        self.with_environment(|name| std::env::var(name).ok())
    }

    /// Sets the tools that files can name. The default is none.
    #[must_use]
    pub fn with_tools(mut self, tools: Tools) -> Self {
        self.tools = tools;
        self
    }

    /// Sets the thinking modes that files can name. The default is [`Registry::with_built_in`].
    #[must_use]
    pub fn with_modes(mut self, modes: Registry) -> Self {
        self.modes = modes;
        self
    }

    /// Loads flows for inspection only: every `${NAME}` is treated as set, and no client is
    /// created. If such a flow is run, calls to a model fail.
    #[must_use]
    pub fn without_clients(mut self) -> Self {
        self.connects = false;
        // Without braces, which would be a slot in a prompt.
        self.with_environment(|name| Some(format!("${name}")))
    }

    /// Uses this model for all nodes with one of the built-in providers `anthropic`, `ollama` and
    /// `openai`, instead of the model that the file names. By default, it is the one in the file.
    #[must_use]
    pub fn with_model(mut self, model: &str) -> Self {
        self.model = Some(model.to_owned());
        self
    }

    /// Wraps the client of each node, for example to write down its calls. `wrap` gets the id of the
    /// node and the client. By default, clients are used as they are.
    ///
    /// ```
    /// use cogwork_agents::Loader;
    /// use cogwork_llm::layers::Cache;
    /// use std::sync::Arc;
    ///
    /// let loader = Loader::new().with_client_wrapper(|_, client| Arc::new(Cache::new(client)));
    /// # let _ = loader;
    /// ```
    #[must_use]
    pub fn with_client_wrapper(
        mut self,
        wrap: impl Fn(&str, Arc<dyn LlmClient>) -> Arc<dyn LlmClient> + Send + Sync + 'static,
    ) -> Self {
        self.wrapper = Some(Arc::new(wrap));
        self
    }

    /// Adds a provider. Its settings must have other names than those of requests and of node types.
    ///
    /// # Errors
    ///
    /// Returns an error if the name is in use.
    pub fn with_provider(mut self, provider: Provider) -> Result<Self, LoaderError> {
        let name = provider.name().to_owned();
        insert(&mut self.providers, "provider", name, provider)?;

        Ok(self)
    }

    /// Adds a node type. If it has a client, its settings must have other names than those of
    /// requests and of providers.
    ///
    /// # Errors
    ///
    /// Returns an error if the name is in use.
    pub fn with_node_type(mut self, node_type: NodeType) -> Result<Self, LoaderError> {
        let name = node_type.name().to_owned();
        insert(&mut self.node_types, "node type", name, node_type)?;

        Ok(self)
    }

    /// Loads the flow of a file of at most 256 KiB, including its subflows. All files together have at
    /// most 4 MiB and 256 different variables.
    ///
    /// # Errors
    ///
    /// Returns all problems of the file and its subflows.
    pub fn load(&self, path: impl AsRef<Path>) -> Result<FileFlow, FileError> {
        Loading::new(self).load_file(path.as_ref())
    }

    /// Loads a flow from a text, which cannot name other files. Errors refer to the text as `name`.
    ///
    /// # Errors
    ///
    /// Returns all problems of the text.
    pub fn load_text(&self, name: &str, text: &str) -> Result<FileFlow, FileError> {
        Loading::new(self).load_text(name, text)
    }

    /// Returns the JSON Schema (draft 2020-12) of files, for editors, with the settings of every
    /// provider, node type and mode.
    pub fn schema(&self) -> Json {
        schema::of_file(self)
    }

    pub(crate) fn wrapped(&self, id: &str, client: Arc<dyn LlmClient>) -> Arc<dyn LlmClient> {
        match &self.wrapper {
            Some(wrap) => wrap(id, client),
            None => client,
        }
    }
}

fn by_name<T>(all: Vec<T>, name: impl Fn(&T) -> &str) -> BTreeMap<String, T> {
    all.into_iter()
        .map(|one| (name(&one).to_owned(), one))
        .collect()
}

fn insert<T>(
    all: &mut BTreeMap<String, T>,
    kind: &'static str,
    name: String,
    added: T,
) -> Result<(), LoaderError> {
    if all.contains_key(&name) {
        return Err(LoaderError::NameTaken {
            kind,
            name,
            known: all.keys().cloned().collect(),
        });
    }

    all.insert(name, added);
    Ok(())
}

impl fmt::Debug for Loader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Loader")
            .field("providers", &self.providers.keys())
            .field("node_types", &self.node_types.keys())
            .field("tools", &self.tools)
            .finish_non_exhaustive()
    }
}
