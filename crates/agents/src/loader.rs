use std::fmt;
use std::path::Path;
use std::sync::Arc;

use cogwork_llm::LlmClient;
use cogwork_thinking::settings::read;
use cogwork_thinking::{Registry, RegistryError, SettingProblem};
use cogwork_tools::Tools;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value as Json;

use crate::load::Loading;
use crate::secrets::Environment;
use crate::{FileError, FileFlow, Made, Making, node_types, providers, schema};

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
/// greeting.yaml:4:11: nodes[0].type: unknown node type `agnet`; known node types: `agent`, `branches`, `chain_of_thought`, `map`, `strategy`, `subflow`, `template`, `tool` and `wait`; did you mean `agent`?
/// greeting.yaml:5:9: nodes[1].id: line 3 already has a node with the id `greeter`; choose another id
/// greeting.yaml:7:55: nodes[1].config.temperature: expected a number, found a text");
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Loader {
    pub(crate) providers: Registry<Provider>,
    pub(crate) node_types: Registry<NodeType>,
    pub(crate) tools: Tools,
    pub(crate) modes: Registry,
    pub(crate) environment: Environment,
    pub(crate) connects: bool,
    pub(crate) wrapper: Option<Arc<Wrapper>>,
}

/// Wraps the client of the node with an id.
type Wrapper = dyn Fn(&str, Arc<dyn LlmClient>) -> Arc<dyn LlmClient> + Send + Sync;

/// A kind of client that files can name as `provider`.
#[derive(Clone)]
pub(crate) struct Provider {
    pub(crate) make: Arc<MakeClient>,
}

type MakeClient = dyn Fn(&Json) -> Result<Arc<dyn LlmClient>, SettingProblem> + Send + Sync;

/// A kind of node that files can name as `type`.
#[derive(Clone)]
pub(crate) struct NodeType {
    pub(crate) make: Arc<MakeNode>,
    /// Whether the nodes have a client, so that files can set a `provider`.
    pub(crate) has_client: bool,
}

type MakeNode = dyn Fn(&Json, &mut Making<'_, '_>) -> Option<Made> + Send + Sync;

impl Provider {
    pub(crate) fn new<C, M, E>(make: impl Fn(C) -> Result<M, E> + Send + Sync + 'static) -> Self
    where
        C: DeserializeOwned,
        M: LlmClient + 'static,
        E: fmt::Display,
    {
        let make = move |settings: &Json| -> Result<Arc<dyn LlmClient>, SettingProblem> {
            let client = make(read(settings)?).map_err(SettingProblem::new)?;
            Ok(Arc::new(client))
        };
        Self {
            make: Arc::new(make),
        }
    }
}

impl NodeType {
    pub(crate) fn new<C: DeserializeOwned>(
        make: impl Fn(C, &mut Making<'_, '_>) -> Option<Made> + Send + Sync + 'static,
    ) -> Self {
        let make = move |settings: &Json, making: &mut Making<'_, '_>| {
            // The schema has been checked, so this only refuses what it can't express.
            let settings = read(settings).map_err(|problem| making.report(problem));
            make(settings.ok()?, making)
        };
        Self {
            make: Arc::new(make),
            has_client: false,
        }
    }

    pub(crate) fn with_client(self) -> Self {
        Self {
            has_client: true,
            ..self
        }
    }
}

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
            providers: providers::built_in(),
            node_types: node_types::built_in(),
            tools: Tools::new(),
            modes: Registry::with_built_in(),
            // A library doesn't read the environment of a program unasked.
            environment: Arc::new(|_: &str| None),
            connects: true,
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

    /// Adds a kind of client that files can name as `provider`. `make` creates a client from its
    /// settings, or returns what is wrong with them.
    ///
    /// Files list these settings together with those of the node, so they must have other names than
    /// those of requests and of node types. Editors show the doc comments of their type.
    ///
    /// ```
    /// use cogwork_agents::Loader;
    /// use cogwork_llm::ScriptedClient;
    /// use schemars::JsonSchema;
    /// use serde::Deserialize;
    ///
    /// #[derive(Deserialize, JsonSchema)]
    /// #[serde(deny_unknown_fields)]
    /// struct Parrot {
    ///     /// What it always says.
    ///     word: String,
    /// }
    ///
    /// let loader = Loader::new().with_provider("parrot", "Says one word.", |Parrot { word }| {
    ///     if word.is_empty() { Err("the word is empty; expected one") } else { Ok(ScriptedClient::new([word])) }
    /// })?;
    ///
    /// let flow = "nodes: [{id: polly, type: agent, config: {provider: parrot, word: Hello}}]";
    /// assert!(loader.load_text("flow.yaml", flow).is_ok());
    ///
    /// let flow = "nodes: [{id: polly, type: agent, config: {provider: parrot, wort: Hello}}]";
    /// assert_eq!(format!("{:#}", loader.load_text("flow.yaml", flow).unwrap_err()), "\
    /// flow.yaml:1:42: nodes[0].config: the key `word` is missing; expected a text
    /// flow.yaml:1:61: nodes[0].config: unknown key `wort`; did you mean `word`?");
    /// # Ok::<(), cogwork_thinking::RegistryError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if the name is in use, or isn't 1 to 64 letters, digits, `_` and `-`.
    pub fn with_provider<C, M, E>(
        mut self,
        name: &str,
        summary: &str,
        make: impl Fn(C) -> Result<M, E> + Send + Sync + 'static,
    ) -> Result<Self, RegistryError>
    where
        C: DeserializeOwned + JsonSchema,
        M: LlmClient + 'static,
        E: fmt::Display,
    {
        self.providers
            .add::<C>(name, summary, Provider::new(make))?;
        Ok(self)
    }

    /// Adds a kind of node that files can name as `type`. `make` creates a node from its settings, or
    /// [refuses](Making::refuse) them.
    ///
    /// ```
    /// use cogwork_agents::{FlowState, Loader, Made, Output};
    /// use cogwork_flow::from_fn;
    /// use schemars::JsonSchema;
    /// use serde::Deserialize;
    ///
    /// #[derive(Deserialize, JsonSchema)]
    /// #[serde(deny_unknown_fields)]
    /// struct Shout {
    ///     /// What is put behind it.
    ///     end: String,
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let summary = "Says in capitals what was said last.";
    /// let loader = Loader::new().with_node_type("shout", summary, |Shout { end }, making| {
    ///     if end.is_empty() {
    ///         return making.refuse("end", "the text is empty; expected at least one character");
    ///     }
    ///     let id = making.id().to_owned();
    ///     Some(Made::node(from_fn(move |state: &mut FlowState| {
    ///         let text = state.last().text.to_uppercase() + &end;
    ///         state.put(&id, Output::new(text));
    ///     })))
    /// })?;
    /// let loaded = loader.load_text("flow.yaml", "nodes: [{id: loud, type: shout, config: {end: '!'}}]")?;
    /// let mut state = FlowState::new("hello");
    /// loaded.flow().run(&mut state).await?;
    /// assert_eq!(state.last().text, "HELLO!");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As [`with_provider`](Self::with_provider).
    pub fn with_node_type<C: DeserializeOwned + JsonSchema>(
        mut self,
        name: &str,
        summary: &str,
        make: impl Fn(C, &mut Making<'_, '_>) -> Option<Made> + Send + Sync + 'static,
    ) -> Result<Self, RegistryError> {
        self.node_types
            .add::<C>(name, summary, NodeType::new(make))?;
        Ok(self)
    }

    /// Loads the flow of a file of at most 256 KiB, including its subflows: at most 100 files with 2,000
    /// nodes.
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
}

impl fmt::Debug for Loader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Loader")
            .field("providers", &self.providers)
            .field("node_types", &self.node_types)
            .field("tools", &self.tools)
            .finish_non_exhaustive()
    }
}
