use std::fmt;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use cogwork_llm::LlmClient;
use cogwork_thinking::Registry;
use cogwork_tools::Tools;
use serde_json::Value as Json;

use crate::load::Loading;
use crate::quote::{Name, list};
use crate::settings::{RequestSettings, properties, schema_of};
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
/// greeting.yaml:4:11: nodes[0].type: unknown node type `agnet`; known node types: `agent`, `chain_of_thought`, `strategy`, `subflow`, `wait`; did you mean `agent`?
/// greeting.yaml:5:9: nodes[1].id: line 3 already has a node with the id `greeter`; choose another id
/// greeting.yaml:7:55: nodes[1].config.temperature: expected a number, found a text");
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Loader {
    providers: Vec<Provider>,
    node_types: Vec<NodeType>,
    tools: Tools,
    modes: Registry,
    environment: Environment,
    connects: bool,
    wrapper: Option<Arc<Wrapper>>,
    /// Created on first use, and again after each change.
    schema: OnceLock<Json>,
}

/// Wraps the client of the node with an id.
type Wrapper = dyn Fn(&str, Arc<dyn LlmClient>) -> Arc<dyn LlmClient> + Send + Sync;

/// An error that occurs when something is added to a [`Loader`].
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LoaderError {
    /// The name is already in use.
    #[error(
        "the {kind} `{}` already exists; known {kind}s: {}; choose another name, or use `replace`",
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
    /// A node type has a setting with the same name as a setting of a provider or of all requests.
    /// This is an error because files list these settings together.
    #[error(
        "the setting `{}` of the {kind} `{}` is also a setting of {other}; choose another name",
        Name(setting),
        Name(name)
    )]
    SettingTaken {
        /// `provider` or `node type`.
        kind: &'static str,
        /// Its name.
        name: String,
        /// The setting.
        setting: String,
        /// What already has this setting.
        other: String,
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
        let mut providers = providers::built_in();
        let node_types = node_types::built_in();
        providers.sort_by(|one, other| one.name().cmp(other.name()));
        Self {
            providers,
            node_types,
            tools: Tools::new(),
            modes: Registry::with_built_in(),
            environment: Arc::new(|_: &str| None),
            connects: true,
            wrapper: None,
            schema: OnceLock::new(),
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
        self.schema = OnceLock::new();
        self
    }

    /// Sets the thinking modes that files can name. The default is [`Registry::with_built_in`].
    #[must_use]
    pub fn with_modes(mut self, modes: Registry) -> Self {
        self.modes = modes;
        self.schema = OnceLock::new();
        self
    }

    /// Loads flows for inspection only: every `${NAME}` is treated as set, and no client is
    /// created. If such a flow is run, calls to a model fail.
    #[must_use]
    pub fn without_clients(mut self) -> Self {
        self.connects = false;
        self.with_environment(|name| Some(format!("${{{name}}}")))
    }

    /// Uses this model for all nodes with one of the built-in providers `anthropic`, `ollama` and
    /// `openai`, instead of the model that the file names. By default, it is the one in the file.
    #[must_use]
    pub fn with_model(mut self, model: &str) -> Self {
        let providers = self.providers.into_iter();
        let providers = providers.map(|provider| provider.with_model(model));
        self.providers = providers.collect();
        self
    }

    /// Wraps the client of each node, for example to write down its calls. `wrap` gets the id of the
    /// node and the client. By default, clients are used as they are.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use cogwork_agents::Loader;
    /// use cogwork_llm::Cache;
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

    /// Adds a provider.
    ///
    /// # Errors
    ///
    /// Returns an error if the name is in use, or if a setting has the same name as one of a node
    /// type or of requests.
    pub fn with_provider(mut self, provider: Provider) -> Result<Self, LoaderError> {
        let known: Vec<_> = self
            .providers
            .iter()
            .map(|known| known.name().to_owned())
            .collect();

        free("provider", provider.name(), known)?;
        self.check_provider(&provider)?;
        self.put_provider(provider);

        Ok(self)
    }

    /// Adds a provider. If there is one with the same name, it is replaced and returned.
    ///
    /// # Errors
    ///
    /// Returns an error if a setting has the same name as one of a node type or of requests.
    pub fn replace_provider(
        &mut self,
        provider: Provider,
    ) -> Result<Option<Provider>, LoaderError> {
        let place = self
            .providers
            .iter()
            .position(|known| known.name() == provider.name());
        self.check_provider(&provider)?;
        let replaced = place.map(|place| self.providers.remove(place));
        self.put_provider(provider);

        Ok(replaced)
    }

    fn check_provider(&self, provider: &Provider) -> Result<(), LoaderError> {
        let clients = self
            .node_types
            .iter()
            .filter(|node_type| node_type.has_client());
        let others = clients.map(|node_type| {
            (
                format!("the node type `{}`", node_type.name()),
                node_type.schema(),
            )
        });

        let request = schema_of::<RequestSettings>();
        let others = others.chain([("every request".to_owned(), &request)]);
        apart("provider", provider.name(), provider.schema(), others)
    }

    fn put_provider(&mut self, provider: Provider) {
        self.schema = OnceLock::new();
        self.providers.push(provider);
        self.providers
            .sort_by(|one, other| one.name().cmp(other.name()));
    }

    /// Adds a node type.
    ///
    /// # Errors
    ///
    /// Returns an error if the name is in use, or if the node type has a client and a setting with
    /// the same name as one of a provider or of requests.
    pub fn with_node_type(mut self, node_type: NodeType) -> Result<Self, LoaderError> {
        let known: Vec<_> = self
            .node_types
            .iter()
            .map(|known| known.name().to_owned())
            .collect();

        free("node type", node_type.name(), known)?;
        self.check_node_type(&node_type)?;
        self.put_node_type(node_type);

        Ok(self)
    }

    /// Adds a node type. If there is one with the same name, it is replaced and returned.
    ///
    /// # Errors
    ///
    /// Returns an error if the node type has a client and a setting with the same name as one of a
    /// provider or of requests.
    pub fn replace_node_type(
        &mut self,
        node_type: NodeType,
    ) -> Result<Option<NodeType>, LoaderError> {
        let place = self
            .node_types
            .iter()
            .position(|known| known.name() == node_type.name());
        self.check_node_type(&node_type)?;
        let replaced = place.map(|place| self.node_types.remove(place));
        self.put_node_type(node_type);

        Ok(replaced)
    }

    fn check_node_type(&self, node_type: &NodeType) -> Result<(), LoaderError> {
        if node_type.has_client() {
            let providers = self.providers.iter();
            let others = providers.map(|provider| {
                (
                    format!("the provider `{}`", provider.name()),
                    provider.schema(),
                )
            });

            let request = schema_of::<RequestSettings>();
            let others = others.chain([("every request".to_owned(), &request)]);
            apart("node type", node_type.name(), node_type.schema(), others)?;
        }

        Ok(())
    }

    fn put_node_type(&mut self, node_type: NodeType) {
        self.schema = OnceLock::new();
        self.node_types.push(node_type);
        self.node_types
            .sort_by(|one, other| one.name().cmp(other.name()));
    }

    /// Returns the providers, by name.
    pub fn providers(&self) -> &[Provider] {
        &self.providers
    }

    /// Returns the node types, by name.
    pub fn node_types(&self) -> &[NodeType] {
        &self.node_types
    }

    /// Returns the tools that files can name.
    pub fn tools(&self) -> &Tools {
        &self.tools
    }

    /// Returns the thinking modes that files can name.
    pub fn modes(&self) -> &Registry {
        &self.modes
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
    /// provider, node type and mode. It contains its [fingerprint](Self::fingerprint) as
    /// `x-fingerprint`.
    pub fn schema(&self) -> &Json {
        self.schema.get_or_init(|| schema::of_file(self))
    }

    /// Returns the fingerprint of the [schema](Self::schema): 16 hexadecimal digits, the 64-bit
    /// FNV-1a hash of the schema as JSON with sorted keys and without the fingerprint.
    pub fn fingerprint(&self) -> &str {
        self.schema()
            .get(schema::FINGERPRINT)
            .and_then(Json::as_str)
            .unwrap_or_default()
    }

    pub(crate) fn provider(&self, name: &str) -> Option<&Provider> {
        self.providers
            .iter()
            .find(|provider| provider.name() == name)
    }

    pub(crate) fn node_type(&self, name: &str) -> Option<&NodeType> {
        self.node_types
            .iter()
            .find(|node_type| node_type.name() == name)
    }

    pub(crate) fn environment(&self) -> &Environment {
        &self.environment
    }

    pub(crate) fn wrapped(&self, id: &str, client: Arc<dyn LlmClient>) -> Arc<dyn LlmClient> {
        match &self.wrapper {
            Some(wrap) => wrap(id, client),
            None => client,
        }
    }

    pub(crate) fn connects(&self) -> bool {
        self.connects
    }
}

fn free(kind: &'static str, name: &str, known: Vec<String>) -> Result<(), LoaderError> {
    if known.iter().any(|known| known == name) {
        return Err(LoaderError::NameTaken {
            kind,
            name: name.to_owned(),
            known,
        });
    }

    Ok(())
}

/// Checks that the settings that files list together have different names.
fn apart<'s>(
    kind: &'static str,
    name: &str,
    schema: &Json,
    others: impl IntoIterator<Item = (String, &'s Json)>,
) -> Result<(), LoaderError> {
    let provider = serde_json::json!({"properties": {"provider": {}}});
    let others = others.into_iter().collect::<Vec<_>>();
    let mine = ("the node".to_owned(), &provider);

    for (other, theirs) in others.iter().chain([&mine]) {
        let settings = properties(schema).into_iter().flat_map(|map| map.keys());
        let mut taken = settings
            .filter(|setting| properties(theirs).is_some_and(|map| map.contains_key(*setting)));
        if let Some(setting) = taken.next() {
            let name = name.to_owned();
            let setting = setting.clone();
            let other = other.clone();
            return Err(LoaderError::SettingTaken {
                kind,
                name,
                setting,
                other,
            });
        }
    }

    Ok(())
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
