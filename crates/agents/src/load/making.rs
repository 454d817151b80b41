use std::fmt;
use std::path::Path as FilePath;
use std::sync::Arc;

use cogwork_llm::{ChatRequest, LlmClient, LlmError, LlmErrorKind, ScriptedClient};
use cogwork_thinking::{ModeBuildError, ThinkingMode};
use cogwork_tools::Tools;
use serde_json::{Map, Value as Json};

use super::file_place::FilePlace;
use super::loading::{Assembled, Loading, SideBySide, Source};
use super::masked::MaskedClient;
use super::wiring::NodeIds;
use crate::memory::{Store, StoreKey};
use crate::node_types::PROMPT;
use crate::problem::Problems;
use crate::settings::{RequestSettings, schema_of, take, typed};
use crate::yaml::{Path, Secrets, Tree};
use crate::{NodeType, SettingProblem, Template};

/// The context in which a [`NodeType`] creates a node.
pub struct Making<'m, 'l> {
    pub(super) loading: &'m mut Loading<'l>,
    pub(super) source: &'m Source,
    pub(super) id: &'m str,
    pub(super) ids: &'m NodeIds<'m>,
    pub(super) config: &'m Tree,
    pub(super) path: &'m Path,
    pub(super) found: &'m mut Problems,
    pub(super) client: Option<Arc<dyn LlmClient>>,
    pub(super) request: ChatRequest,
}

impl Making<'_, '_> {
    /// Removes the settings of the client and of its requests from those of the node. If they have
    /// problems, the node is still created, so that the rest can be checked.
    pub(super) fn prepare(
        &mut self,
        node_type: &NodeType,
        values: &mut Map<String, Json>,
    ) -> Vec<SettingProblem> {
        if !node_type.has_client() {
            return Vec::new();
        }

        // The client of flows that are only loaded for inspection.
        let message = "the flow was loaded without clients; expected a loader that connects";
        let error = LlmError::new(LlmErrorKind::Settings, message);
        self.client = Some(Arc::new(ScriptedClient::default().then(error)));
        let mut problems = Vec::new();
        match typed::<RequestSettings>(take(values, &schema_of::<RequestSettings>())) {
            Ok(request) => self.request = request.request(),
            Err(problem) => problems.push(problem),
        }

        let loader = self.loading.loader;
        let named = values.remove("provider");
        let named = named.as_ref().and_then(Json::as_str);
        let Some(provider) = named.and_then(|name| loader.providers.get(name)) else {
            // The check has reported the problem. The settings may belong to any provider.
            for provider in loader.providers.values() {
                take(values, provider.schema());
            }
            return problems;
        };

        let mut settings = take(values, provider.schema());
        if let Some(setting) = provider.model_setting() {
            self.loading.has_models = true;
            if let (Some(model), Some(settings)) = (&loader.model, settings.as_object_mut()) {
                settings.insert(setting.to_owned(), model.as_str().into());
            }
        }

        if loader.connects {
            match provider.client(settings) {
                Ok(client) => {
                    let secrets = self.secrets();
                    let client = Arc::new(MaskedClient { client, secrets });
                    self.client = Some(loader.wrapped(self.id, client));
                }
                Err(problem) => problems.push(problem),
            }
        }

        problems
    }

    /// Returns the id of the node, under which its output is kept in the state.
    pub fn id(&self) -> &str {
        self.id
    }

    /// Returns the client that the settings specify.
    ///
    /// # Errors
    ///
    /// Returns an error if the node type was not created [with a client](NodeType::with_client).
    pub fn client(&self) -> Result<Arc<dyn LlmClient>, SettingProblem> {
        let message =
            "nodes of this type have no client; expected a node type that is made with one";
        self.client
            .clone()
            .ok_or_else(|| SettingProblem::new(message))
    }

    /// Returns the options of the client's requests, such as the temperature.
    pub fn request(&self) -> ChatRequest {
        self.request.clone()
    }

    /// Parses the prompt in this setting. It may use the slots `{input}`, `{last}` and the id of
    /// every node of the flow.
    ///
    /// # Errors
    ///
    /// Returns an error if the text is not a valid template, or if it names an unknown node.
    pub fn template(&self, setting: &str, text: &str) -> Result<Template, SettingProblem> {
        let template = Template::for_nodes(text, self.ids);
        template.map_err(|error| SettingProblem::new(self.loading.told(&error)).at(setting))
    }

    /// Returns the tools that this setting names.
    ///
    /// # Errors
    ///
    /// Returns a problem for an unknown name.
    pub fn tools(&self, setting: &str, names: &[String]) -> Result<Tools, SettingProblem> {
        let Source {
            tools,
            has_unknown_tools,
            ..
        } = self.source;
        let is_known = |name: &&String| tools.names().any(|known| known == *name);
        let named = names
            .iter()
            .filter(|name| !has_unknown_tools || is_known(name));

        let named = tools.only(named);
        named.map_err(|error| SettingProblem::new(error.to_string()).at(setting))
    }

    /// Creates the thinking modes in this setting, in order.
    ///
    /// # Errors
    ///
    /// Returns the problems of the settings of a mode.
    pub fn modes(
        &self,
        setting: &str,
        thinking: &Json,
    ) -> Result<Vec<Box<dyn ThinkingMode>>, Vec<SettingProblem>> {
        let mut modes = Vec::new();
        let mut problems = Vec::new();
        let one = std::slice::from_ref(thinking);
        let (list, is_list) = thinking
            .as_array()
            .map_or((one, false), |list| (list.as_slice(), true));

        for (place, mode) in list.iter().enumerate() {
            let name = mode.get("type").and_then(Json::as_str).unwrap_or_default();
            let settings = mode.get("config").unwrap_or(&Json::Null);
            let at = if is_list {
                format!("{setting}[{place}]")
            } else {
                setting.to_owned()
            };

            match self.loading.loader.modes.build(name, settings) {
                Ok(mode) => modes.push(mode),
                Err(ModeBuildError::Settings { path, problem, .. }) => {
                    problems.push(SettingProblem::new(problem).at(format!("{at}.{path}")));
                }
                Err(error) => problems.push(SettingProblem::new(error.to_string()).at(at)),
            }
        }

        if problems.is_empty() {
            Ok(modes)
        } else {
            Err(problems)
        }
    }

    /// Parses the prompt of the node, which is `{last}` by default.
    pub(crate) fn prompt(&self, text: Option<String>) -> Result<Template, SettingProblem> {
        match text {
            Some(text) => self.template(PROMPT, &text),
            None => Ok(Template::default()),
        }
    }

    pub(crate) fn secrets(&self) -> Secrets {
        self.loading.secrets.clone()
    }

    /// Returns the store with this key. The first call creates it, and later calls, including those
    /// in subflows, return the same store.
    pub(crate) fn store(&mut self, key: StoreKey, make: impl FnOnce() -> Arc<Store>) -> Arc<Store> {
        Arc::clone(self.loading.stores.entry(key).or_insert_with(make))
    }

    /// Returns the flow that the settings `nodes` and `edges` describe, or reports its problems and
    /// returns `None`.
    pub(crate) fn flow_here(&mut self) -> Option<Assembled> {
        self.loading
            .flow(self.source, self.config, self.path, self.found)
    }

    /// Returns a flow for each of the `nodes` in the settings, and the filled `answer`, or reports
    /// their problems and returns `None`.
    pub(crate) fn flows_here(&mut self) -> Option<SideBySide> {
        self.loading
            .flows(self.source, self.config, self.path, self.found)
    }

    /// Returns the flow of a file next to this one, or reports its problems and returns `None`.
    pub(crate) fn flow_of_file(&mut self, file: &str) -> Result<Option<Assembled>, String> {
        let FilePlace { folder, name } = self.beside(file)?;
        let shown = match FilePath::new(self.source.name.as_ref()).parent() {
            Some(folder) => folder.join(file).display().to_string(),
            None => file.to_owned(),
        };
        self.loading.file(&folder, &name, &shown)
    }

    /// Returns the place of a file in the folder of this file or below. The file doesn't have to
    /// exist yet.
    pub(crate) fn beside(&self, file: &str) -> Result<FilePlace, String> {
        let Some(folder) = &self.source.folder else {
            return Err(
                "this flow was not loaded from a file, so it cannot name files; remove the setting"
                    .to_owned(),
            );
        };

        FilePlace::beneath(folder, file)
    }
}

impl fmt::Debug for Making<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Making")
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}
