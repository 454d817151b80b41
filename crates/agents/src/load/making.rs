use std::ffi::OsString;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use cogwork_flow::{Flow, FlowBuilder};
use cogwork_llm::{ChatRequest, LlmClient, LlmError, LlmErrorKind, ScriptedClient};
use cogwork_text::files::Folder;
use cogwork_thinking::settings::Registered;
use cogwork_thinking::settings::{read, schema_of};
use cogwork_thinking::{SettingProblem, ThinkingMode};
use cogwork_tools::Tools;
use serde_json::{Value as Json, json};

use super::masked::MaskedClient;
use super::{Assembled, Loading, NodeIds, text_at};
use crate::loader::NodeType;
use crate::problems::{below, item};
use crate::settings::{RequestSettings, part_of};
use crate::{FlowState, Made, Template};

/// The context in which a node is created from its settings.
pub struct Making<'m, 'l> {
    pub(crate) loading: &'m mut Loading<'l>,
    id: &'m str,
    ids: &'m NodeIds<'m>,
    pub(crate) config: &'m Json,
    pub(crate) path: &'m str,
    /// The client that the settings specify.
    pub(crate) client: Arc<dyn LlmClient>,
    /// The options of its requests, such as the temperature.
    pub(crate) request: ChatRequest,
}

impl Loading<'_> {
    /// Returns the node that a mapping describes, or reports its problems and returns `None`.
    pub(super) fn node(&mut self, node: &Json, ids: &NodeIds<'_>, path: &str) -> Option<Made> {
        let node_type = self.loader.node_types.get(text_at(node, "type"))?;
        let empty = json!({});

        let mut making = Making {
            loading: self,
            id: text_at(node, "id"),
            ids,
            config: node.get("config").unwrap_or(&empty),
            path: &below(path, "config"),
            client: Arc::new(not_connected()),
            request: ChatRequest::default(),
        };
        making.make(node_type)
    }
}

impl Making<'_, '_> {
    /// Creates the node, unless its settings have problems. If those of its client have some, the rest
    /// is still checked.
    fn make(&mut self, node_type: &Registered<NodeType>) -> Option<Made> {
        let NodeType { make, has_client } = &node_type.value;
        // The number, because earlier nodes may have problems, too.
        let before = self.loading.source.problems.found.len();

        let made = if *has_client {
            if let Err(problem) = self.create_client() {
                self.report(problem);
            }
            make(&part_of(self.config, &node_type.schema), self)
        } else {
            make(self.config, self)
        };

        made.filter(|_| self.loading.source.problems.found.len() == before)
    }

    /// Creates the client and the options of its requests.
    fn create_client(&mut self) -> Result<(), SettingProblem> {
        let request = part_of(self.config, &schema_of::<RequestSettings>());
        self.request = read::<RequestSettings>(&request)?.request();

        let loader = self.loading.loader;
        let Some(provider) = loader.providers.get(text_at(self.config, "provider")) else {
            // The check has reported the problem.
            return Ok(());
        };

        if loader.connects {
            let settings = part_of(self.config, &provider.schema);
            let client = (provider.value.make)(&settings)?;
            // Inside of the wrapper, so that a wrapper that logs sees no values either.
            let secrets = self.loading.secrets.clone();
            let client: Arc<dyn LlmClient> = Arc::new(MaskedClient { client, secrets });
            self.client = match &loader.wrapper {
                Some(wrap) => wrap(self.id, client),
                None => client,
            };
        }
        Ok(())
    }

    /// Returns the id of the node, under which its output is kept in the state.
    pub fn id(&self) -> &str {
        self.id
    }

    /// Reports what is wrong with a setting, such as `rounds` or `criteria[2].name`, and what is expected
    /// instead. An empty path stands for the settings as a whole. The node isn't created then.
    ///
    /// Returns `None`, for the end of the function that creates the node.
    pub fn refuse<T>(&mut self, setting: &str, message: impl fmt::Display) -> Option<T> {
        self.report(SettingProblem::new(message).at(setting));
        None
    }

    pub(crate) fn report(&mut self, problem: SettingProblem) {
        let problem = problem.below(self.path);
        self.loading.push(problem.path(), problem.message());
    }

    /// Parses the prompt in this setting. It may use the slots `{input}`, `{last}` and the id of
    /// every node of the flow; anything else is [refused](Self::refuse).
    pub fn template(&mut self, setting: &str, text: &str) -> Template {
        let path = format!("{}.{setting}", self.path);
        self.loading.template(text, self.ids, &path)
    }

    /// Returns the tools that this setting names. An unknown name is [refused](Self::refuse).
    pub fn tools(&mut self, setting: &str, names: &[String]) -> Tools {
        let source = &self.loading.source;
        let is_known = |name: &&String| source.tools.names().any(|known| known == *name);
        let named = names
            .iter()
            // The tools of a faulty server are missing; the problems of the server are enough.
            .filter(|name| !source.has_unknown_tools || is_known(name));

        source.tools.only(named).unwrap_or_else(|error| {
            self.report(SettingProblem::new(error).at(setting));
            Tools::new()
        })
    }

    /// Creates the thinking modes in this setting, in order. Problems of their settings are
    /// [refused](Self::refuse).
    pub fn modes(&mut self, setting: &str, thinking: &Json) -> Vec<Box<dyn ThinkingMode>> {
        let named: Vec<_> = match thinking {
            Json::Array(list) => {
                let list = list.iter().enumerate();
                list.map(|(index, mode)| (item(setting, index), mode))
                    .collect()
            }
            mode => vec![(setting.to_owned(), mode)],
        };

        let registry = &self.loading.loader.modes;
        let built = named.into_iter().filter_map(|(path, mode)| {
            // A mode without settings may leave out `config`.
            let settings = mode.get("config").unwrap_or(&Json::Null);
            let built = registry.build(text_at(mode, "type"), settings);
            built
                .map_err(|problem| self.report(problem.below(&path)))
                .ok()
        });
        built.collect()
    }

    /// Notes that the node only works in a run with a journal.
    pub(crate) fn needs_journal(&mut self) {
        let first = &mut self.loading.needs_journal;
        first.get_or_insert_with(|| self.id.to_owned());
    }

    /// Parses the prompt of the node, which is `{last}` by default.
    pub(crate) fn prompt(&mut self, text: Option<String>) -> Template {
        text.map_or_else(Template::default, |text| self.template("prompt", &text))
    }

    /// Returns the flow, or reports why it can't be built and returns `None`.
    pub(crate) fn built(&mut self, flow: FlowBuilder<FlowState>) -> Option<Flow<FlowState>> {
        flow.build()
            .map_err(|error| self.report(SettingProblem::new(error)))
            .ok()
    }

    /// Returns the flow of a file next to this one, or reports its problems and returns `None`.
    pub(crate) fn flow_of_file(&mut self, file: &str) -> Option<Assembled> {
        // As the person would write it from where the first file was named.
        let shown = match Path::new(&*self.loading.source.problems.file).parent() {
            Some(folder) => folder.join(file).display().to_string(),
            None => file.to_owned(),
        };

        let read = self.beside(file);
        let read = read.and_then(|(folder, name)| self.loading.file(&folder, &name, &shown));
        read.unwrap_or_else(|problem| self.refuse("file", problem.message()))
    }

    /// Returns the folder and the name of a file in the folder of this file or below. The file
    /// doesn't have to exist yet.
    pub(crate) fn beside(&mut self, file: &str) -> Result<(Folder, OsString), SettingProblem> {
        self.loading.names_files = true;
        let message =
            "this flow was not loaded from a file, so it cannot name files; remove the setting";
        let folder = self.loading.source.folder.as_ref();
        let folder = folder.ok_or_else(|| SettingProblem::new(message))?;
        folder.file_beneath(file).map_err(SettingProblem::new)
    }
}

/// Returns the client of flows that are only loaded for inspection.
fn not_connected() -> ScriptedClient {
    let message = "the flow was loaded without clients; expected a loader that connects";
    ScriptedClient::default().then(LlmError::new(LlmErrorKind::Settings, message))
}
