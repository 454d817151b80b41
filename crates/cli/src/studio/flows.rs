//! The flows of files, which the page starts and resumes.

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

/// The flows that the command line names. Each run uses the file as it is when the run is started,
/// resumed or forked.
pub(super) struct FileFlows {
    /// Each with the name of its flow when the page was started, in the order of the command line.
    files: Vec<(String, PathBuf)>,
    loader: Loader,
    max_steps: u64,
}

impl FileFlows {
    /// Loads the files once, so that their problems are found now.
    pub(super) async fn load(arguments: &Studio) -> Result<Self, BoxError> {
        let loader = loader().with_process_environment();
        let mut files: Vec<(String, PathBuf)> = Vec::new();

        for path in &arguments.flows {
            let flow = loader.load(path)?;
            flow.connect().await?;
            // Runs name their flow, so the name has to say which file it is.
            let name = flow.flow().name();
            if files.iter().any(|(other, _)| other == name) {
                let name = Name(name);
                let problem = "two files have a flow with the name";
                return Err(format!("{problem} `{name}`; expected different names").into());
            }
            files.push((name.to_owned(), path.clone()));
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
        self.files.iter().map(|(name, _)| name.clone()).collect()
    }

    async fn open(&self, name: &str) -> Result<ServedFlow, FlowError> {
        let mut files = self.files.iter();
        let (_, path) = files
            .find(|(other, _)| other == name)
            .ok_or(FlowError::Unknown)?;
        let loaded = self.loader.load(path);
        let loaded = loaded.map_err(|error| FlowError::Failed(error.to_string()))?;
        // The runs of the page would be resumed with a flow that they don't belong to.
        if loaded.flow().name() != name {
            let (path, name) = (path.display(), Name(name));
            let now = Name(loaded.flow().name());
            let problem = format!("{path}: the name of the flow is now `{now}`; expected `{name}`");
            return Err(FlowError::Failed(problem));
        }

        // Each run has servers of its own, which end with it.
        let connected = loaded.connect().await;
        connected.map_err(|error| FlowError::Failed(error.to_string()))?;
        Ok(served(Arc::new(loaded)).with_max_steps(self.max_steps))
    }
}

fn served(loaded: Arc<FileFlow>) -> ServedFlow {
    let begin = |input| match input {
        Value::Null => Err("there is none; expected a text or JSON".into()),
        Value::String(text) => Ok(FlowState::new(text)),
        other => Ok(FlowState::new(other.to_string())),
    };
    let answering = Arc::clone(&loaded);
    let answer = move |state: &FlowState| Some(answering.answer(state).ok()?.text);

    ServedFlow::new(loaded.flow().clone(), begin, answer).with_secrets(loaded.hider())
}
