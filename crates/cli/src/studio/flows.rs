//! The flows of files, which the page starts and resumes.

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use cogwork_agents::{FileFlow, FlowState, Loader};
use cogwork_flow::BoxError;
use cogwork_flow::watch::events;
use cogwork_studio::{FlowError, Flows, ServedFlow};
use cogwork_text::Name;
use serde_json::Value;

use super::watching::watch;
use crate::arguments::Studio;
use crate::commands::loader;
use crate::run::NO_MODELS;

/// How many events of a run may wait to be shown.
const WAITING_EVENTS: usize = 10_000;

/// The flows that the command line names. Each run uses the file as it is when the run is started,
/// resumed or forked.
pub(super) struct FileFlows {
    files: Vec<OfferedFile>,
    loader: Loader,
    max_steps: u64,
}

/// A file, with the name of its flow when the page was started.
struct OfferedFile {
    name: String,
    path: PathBuf,
}

impl FileFlows {
    /// Loads the files once, so that their problems are found now.
    pub(super) async fn load(arguments: &Studio) -> Result<Self, BoxError> {
        let loader = loader().with_process_environment();
        let mut files: Vec<OfferedFile> = Vec::new();

        for path in &arguments.flows {
            let flow = loader.load(path)?;
            let name = flow.flow().name();
            if files.iter().any(|other| other.name == name) {
                let name = Name(name);
                let problem = "two files have a flow with the name";
                return Err(format!("{problem} `{name}`; expected different names").into());
            }
            flow.connect().await?;
            files.push(OfferedFile {
                name: name.to_owned(),
                path: path.clone(),
            });
        }

        Ok(Self {
            files,
            loader,
            max_steps: arguments.max_steps,
        })
    }

    /// Loads a file, without starting its servers.
    fn read(&self, file: &OfferedFile, loader: &Loader) -> Result<FileFlow, String> {
        let loaded = loader.load(&file.path).map_err(|error| error.to_string())?;
        let now = loaded.flow().name();
        if now != file.name {
            let path = file.path.display();
            let names = format_args!("`{}`; expected `{}`", Name(now), Name(&file.name));
            return Err(format!("{path}: the name of the flow is now {names}"));
        }
        Ok(loaded)
    }

    /// Loads a file whose models are replaced by a different one.
    fn read_with(&self, file: &OfferedFile, model: &str) -> Result<FileFlow, FlowError> {
        if model.trim().is_empty() {
            let problem = "the model has no name; expected one, or no other model";
            return Err(FlowError::Refused(problem.to_owned()));
        }

        let own = self.read(file, &self.loader).map_err(FlowError::Refused)?;
        if !own.has_models() {
            return Err(FlowError::Refused(NO_MODELS.to_owned()));
        }
        let loader = self.loader.clone().with_model(model);
        self.read(file, &loader).map_err(FlowError::Refused)
    }
}

#[async_trait]
impl Flows for FileFlows {
    fn names(&self) -> Vec<String> {
        let names = self.files.iter().map(|file| file.name.clone());
        names.collect()
    }

    async fn open(&self, name: &str, model: Option<&str>) -> Result<ServedFlow, FlowError> {
        let found = self.files.iter().find(|file| file.name == name);
        let file = found.ok_or(FlowError::Unknown)?;
        let loaded = match model {
            Some(model) => self.read_with(file, model)?,
            None => self.read(file, &self.loader).map_err(FlowError::Failed)?,
        };
        let connected = loaded.connect().await;
        connected.map_err(|error| FlowError::Failed(error.to_string()))?;

        Ok(served(Arc::new(loaded)).with_max_steps(self.max_steps))
    }
}

fn served(loaded: Arc<FileFlow>) -> ServedFlow {
    let begin = |input| match input {
        Value::String(text) => Ok(FlowState::new(text)),
        other => Ok(FlowState::new(other.to_string())),
    };
    let answering = Arc::clone(&loaded);
    let answer = move |state: &FlowState| Some(answering.answer(state).ok()?.text);

    let hiding = Arc::clone(&loaded);
    let watched = Arc::clone(&loaded);
    ServedFlow::new(loaded.flow().clone(), begin, answer)
        .with_secrets(move |text| hiding.hide_secrets(text))
        .with_observer(move |pieces| {
            let (sink, told) = events(WAITING_EVENTS);
            let loaded = Arc::clone(&watched);
            tokio::spawn(async move { watch(told, &pieces, &loaded).await });
            sink
        })
}
