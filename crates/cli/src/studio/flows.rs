//! The flows of files, which the page starts and resumes.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use cogwork_agents::{FileFlow, FlowState, Loader};
use cogwork_flow::BoxError;
use cogwork_studio::{FlowError, Flows, ServedFlow};
use cogwork_text::Name;
use serde_json::Value;

use crate::arguments::Studio;
use crate::commands::loader;
use crate::run::NO_MODELS;

/// The flows that the command line names. Each run uses the file as it is when the run is started,
/// resumed or forked.
pub(super) struct FileFlows {
    /// By the names of their flows when the page was started.
    files: BTreeMap<String, PathBuf>,
    loader: Loader,
    max_steps: u64,
}

impl FileFlows {
    /// Loads the files once, so that their problems are found now.
    pub(super) async fn load(arguments: &Studio) -> Result<Self, BoxError> {
        let loader = loader().with_process_environment();
        let mut files = BTreeMap::new();

        for path in &arguments.flows {
            let flow = loader.load(path)?;
            flow.connect().await?;
            // Runs name their flow, so the name has to say which file it is.
            let name = flow.flow().name();
            if files.insert(name.to_owned(), path.clone()).is_some() {
                let name = Name(name);
                let problem = "two files have a flow with the name";
                return Err(format!("{problem} `{name}`; expected different names").into());
            }
        }

        Ok(Self {
            files,
            loader,
            max_steps: arguments.max_steps,
        })
    }
}

#[async_trait]
impl Flows for FileFlows {
    fn names(&self) -> Vec<String> {
        self.files.keys().cloned().collect()
    }

    async fn open(&self, name: &str, model: Option<&str>) -> Result<ServedFlow, FlowError> {
        let path = self.files.get(name).ok_or(FlowError::Unknown)?;
        let mut loader = self.loader.clone();
        if let Some(model) = model {
            if model.trim().is_empty() {
                let problem = "the model has no name; expected one, or no other model";
                return Err(FlowError::Refused(problem.to_owned()));
            }
            loader = loader.with_model(model);
        }

        // A person who asks for a model is told what is wrong with the file.
        let failed = match model {
            Some(_) => FlowError::Refused,
            None => FlowError::Failed,
        };
        let loaded = loader.load(path);
        let loaded = loaded.map_err(|error| failed(error.to_string()))?;
        // The runs of the page would be resumed with a flow that they don't belong to.
        if loaded.flow().name() != name {
            let path = path.display();
            let now = Name(loaded.flow().name());
            let problem = format!("{path}: the name of the flow is now `{now}`");
            return Err(failed(format!("{problem}; expected `{}`", Name(name))));
        }
        if model.is_some() && !loaded.has_models() {
            return Err(FlowError::Refused(NO_MODELS.to_owned()));
        }

        // Each run has servers of its own, which end with it.
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

    let flow = loaded.flow().clone();
    ServedFlow::new(flow, begin, answer).with_secrets(move |text| loaded.hide_secrets(text))
}
