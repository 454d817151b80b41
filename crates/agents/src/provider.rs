use std::fmt;
use std::sync::Arc;

use cogwork_llm::LlmClient;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value as Json;

use crate::SettingProblem;
use crate::settings::{schema_of, typed};

type Make = dyn Fn(Json) -> Result<Arc<dyn LlmClient>, SettingProblem> + Send + Sync;

/// A kind of client that files can name as `provider`, with its settings.
///
/// Files list these settings together with those of the node. Editors show the doc comments of
/// their type.
///
/// ```
/// use cogwork_agents::{Loader, Provider};
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
/// let parrot = Provider::new("parrot", "Says one word.", |Parrot { word }| {
///     if word.is_empty() { Err("the word is empty; expected one") } else { Ok(ScriptedClient::new([word])) }
/// });
/// let loader = Loader::new().with_provider(parrot)?;
///
/// let flow = "nodes: [{id: polly, type: agent, config: {provider: parrot, word: Hello}}]";
/// assert!(loader.load_text("flow.yaml", flow).is_ok());
///
/// let flow = "nodes: [{id: polly, type: agent, config: {provider: parrot, wort: Hello}}]";
/// assert_eq!(format!("{:#}", loader.load_text("flow.yaml", flow).unwrap_err()), "\
/// flow.yaml:1:42: nodes[0].config: the key `word` is missing; expected a text
/// flow.yaml:1:61: nodes[0].config: unknown key `wort`; did you mean `word`?");
/// # Ok::<(), cogwork_agents::LoaderError>(())
/// ```
#[derive(Clone)]
pub struct Provider {
    name: String,
    summary: String,
    schema: Json,
    make: Arc<Make>,
    /// The setting with the name of the model, if there is one.
    model_setting: Option<&'static str>,
}

impl Provider {
    /// Creates a provider. `make` creates a client for a node, or returns a description of what is
    /// wrong with its settings.
    pub fn new<C, M, E>(
        name: impl Into<String>,
        summary: impl Into<String>,
        make: impl Fn(C) -> Result<M, E> + Send + Sync + 'static,
    ) -> Self
    where
        C: DeserializeOwned + JsonSchema,
        M: LlmClient + 'static,
        E: fmt::Display,
    {
        let make = move |values| match make(typed(values)?) {
            Ok(client) => Ok(Arc::new(client) as Arc<dyn LlmClient>),
            Err(error) => Err(SettingProblem::new(error.to_string())),
        };

        Self {
            name: name.into(),
            summary: summary.into(),
            schema: schema_of::<C>(),
            make: Arc::new(make),
            model_setting: None,
        }
    }

    #[cfg(feature = "http")]
    pub(crate) fn with_model_setting(self, setting: &'static str) -> Self {
        Self {
            model_setting: Some(setting),
            ..self
        }
    }

    /// Returns the setting with the name of the model, if there is one.
    pub(crate) fn model_setting(&self) -> Option<&'static str> {
        self.model_setting
    }

    /// Returns the name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the one-line description.
    pub fn summary(&self) -> &str {
        &self.summary
    }

    /// Returns the JSON Schema of the settings.
    pub fn schema(&self) -> &Json {
        &self.schema
    }

    pub(crate) fn client(&self, settings: Json) -> Result<Arc<dyn LlmClient>, SettingProblem> {
        (self.make)(settings)
    }
}

impl fmt::Debug for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Provider")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}
