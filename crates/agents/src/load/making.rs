use std::fmt;
use std::path::Path as FilePath;
use std::sync::Arc;

use cogwork_llm::{ChatRequest, ChatResponse, LlmClient, LlmError, LlmErrorKind, async_trait};
use cogwork_thinking::{ModeBuildError, ThinkingMode};
use cogwork_tools::Tools;
use serde_json::{Map, Value as Json};

use super::file_place::FilePlace;
use super::ids::NodeIds;
use super::loading::{Assembled, Loading, Source};
use crate::memory::{Store, StoreKey};
use crate::problem::Problems;
use crate::settings::{RequestSettings, schema_of, take, typed};
use crate::yaml::{Path, Tree};
use crate::{NodeType, SettingProblem, Template};

/// What a [`NodeType`] has at hand while it makes a node.
pub struct Making<'m, 'l> {
    loading: &'m mut Loading<'l>,
    source: &'m Source,
    id: &'m str,
    ids: &'m NodeIds<'m>,
    config: &'m Tree,
    path: &'m Path,
    found: &'m mut Problems,
    client: Option<Arc<dyn LlmClient>>,
    request: ChatRequest,
}

impl<'m, 'l> Making<'m, 'l> {
    pub(super) fn new(
        loading: &'m mut Loading<'l>,
        source: &'m Source,
        id: &'m str,
        ids: &'m NodeIds<'m>,
        config: &'m Tree,
        path: &'m Path,
        found: &'m mut Problems,
    ) -> Self {
        let request = ChatRequest::default();
        Self {
            loading,
            source,
            id,
            ids,
            config,
            path,
            found,
            client: None,
            request,
        }
    }

    /// Takes the settings of the client and of its requests out of those of the node. Whatever is wrong with
    /// them, the node is made and so checked, though its flow never runs.
    pub(super) fn prepare(
        &mut self,
        node_type: &NodeType,
        values: &mut Map<String, Json>,
    ) -> Vec<SettingProblem> {
        if !node_type.has_client() {
            return Vec::new();
        }

        self.client = Some(Arc::new(NotConnected));
        let mut problems = Vec::new();
        match typed::<RequestSettings>(take(values, &schema_of::<RequestSettings>())) {
            Ok(request) => self.request = request.request(),
            Err(problem) => problems.push(problem),
        }

        let loader = self.loading.loader;
        let named = values.remove("provider");
        let Some(provider) = named
            .as_ref()
            .and_then(Json::as_str)
            .and_then(|name| loader.provider(name))
        else {
            // The schema has refused it; the settings may be of any.
            for provider in loader.providers() {
                take(values, provider.schema());
            }
            return problems;
        };

        let settings = take(values, provider.schema());
        if loader.connects() {
            match provider.client(settings) {
                Ok(client) => self.client = Some(client),
                Err(more) => problems.extend(more),
            }
        }

        problems
    }

    /// The id of the node, under which it puts what it says into the state.
    pub fn id(&self) -> &str {
        self.id
    }

    /// The client that the settings name.
    ///
    /// # Errors
    ///
    /// When the node type is not one [with a client](NodeType::with_client).
    pub fn client(&self) -> Result<Arc<dyn LlmClient>, SettingProblem> {
        let message =
            "nodes of this type have no client; expected a node type that is made with one";
        self.client
            .clone()
            .ok_or_else(|| SettingProblem::new(message))
    }

    /// The settings of its requests: temperature, tokens and so on.
    pub fn request(&self) -> ChatRequest {
        self.request.clone()
    }

    /// Reads a prompt that stands in this setting, with slots for `{input}`, `{last}` and every node of the
    /// flow.
    ///
    /// # Errors
    ///
    /// When it is no template, or names a node that there is not.
    pub fn template(&self, setting: &str, text: &str) -> Result<Template, SettingProblem> {
        let template = Template::for_nodes(text, self.ids);
        template.map_err(|error| SettingProblem::new(self.loading.told(&error)).at(setting))
    }

    /// Those of the loader's tools that this setting names.
    ///
    /// # Errors
    ///
    /// Every name that is none of them.
    pub fn tools(&self, setting: &str, names: &[String]) -> Result<Tools, Vec<SettingProblem>> {
        let tools = self.loading.loader.tools();
        let problem = |(place, name): (usize, &String)| {
            let error = tools.only([name]).err()?;
            Some(SettingProblem::new(error.to_string()).at(format!("{setting}[{place}]")))
        };
        let problems: Vec<_> = names.iter().enumerate().filter_map(problem).collect();

        if !problems.is_empty() {
            return Err(problems);
        }

        tools
            .only(names)
            .map_err(|error| vec![SettingProblem::new(error.to_string()).at(setting)])
    }

    /// Makes the thinking mode, or the modes in their order, that stand in this setting.
    ///
    /// # Errors
    ///
    /// When a mode's own settings are wrong.
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

            match self.loading.loader.modes().build(name, settings) {
                Ok(mode) => modes.push(mode),
                Err(ModeBuildError::Settings {
                    problems: wrong, ..
                }) => problems.extend(wrong.iter().map(|wrong| {
                    SettingProblem::new(wrong.problem()).at(format!("{at}.{}", wrong.path()))
                })),
                Err(error) => problems.push(SettingProblem::new(error.to_string()).at(at)),
            }
        }

        if problems.is_empty() {
            Ok(modes)
        } else {
            Err(problems)
        }
    }

    /// Those who name the same store share it, in subflows too; the first to name it makes it.
    pub(crate) fn store(&mut self, key: StoreKey, make: impl FnOnce() -> Arc<Store>) -> Arc<Store> {
        Arc::clone(self.loading.stores.entry(key).or_insert_with(make))
    }

    /// The flow that the settings themselves describe, by `nodes` and `edges`; nothing if it has problems,
    /// which are then told.
    pub(crate) fn flow_here(&mut self) -> Option<Assembled> {
        self.loading
            .flow(self.source, self.config, self.path, self.found)
    }

    /// The flow of a file beside this one; nothing if it has problems, which are then told.
    pub(crate) fn flow_of_file(&mut self, file: &str) -> Result<Option<Assembled>, String> {
        let (folder, name) = self.beside(file)?.resolved()?;
        let shown = match FilePath::new(self.source.name.as_ref()).parent() {
            Some(folder) => folder.join(file).display().to_string(),
            None => file.to_owned(),
        };
        self.loading.file(&folder, &name, &shown)
    }

    /// The place of a file beside this one, or in a folder there, which need not be there yet.
    pub(crate) fn beside(&self, file: &str) -> Result<FilePlace, String> {
        let Some(folder) = &self.source.folder else {
            return Err(
                "this text is no file, so no file is beside it; expected a setting without a file"
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

/// The client of a flow that is loaded to be looked at.
struct NotConnected;

#[async_trait]
impl LlmClient for NotConnected {
    async fn complete(&self, _: ChatRequest) -> Result<ChatResponse, LlmError> {
        let message = "the flow was loaded without clients; expected a loader that connects";
        Err(LlmError::new(LlmErrorKind::Settings, message))
    }
}
