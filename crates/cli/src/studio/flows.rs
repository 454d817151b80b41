//! The flows of files, which the page starts and resumes.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use cogwork_agents::{FileFlow, FlowState, Loader};
use cogwork_flow::events;
use cogwork_flow::journal::Journal as _;
use cogwork_journal::{RunJournal, Store};
use cogwork_studio::{FlowError, Flows, ForkChoices, ForkPart, ForkRequest, Pieces};
use cogwork_text::{Escaped, Name};
use cogwork_trace::RunRecorder;

use super::watching::watch;
use crate::arguments::Studio;
use crate::output::tell;
use crate::run::NO_MODELS;
use crate::run::record::new_id;
use crate::run::recording;

/// How many events of a run may wait to be shown.
const WAITING_EVENTS: usize = 10_000;

/// The flows that the command line names. Each run uses the file as it is when the run is started,
/// resumed or forked.
pub(super) struct FileFlows {
    files: Vec<OfferedFile>,
    loader: Loader,
    max_steps: u64,
    started: AtomicU64,
    running: Running,
    /// The models of forks with a different one, by run, so that they are resumed with it.
    models: Mutex<HashMap<String, String>>,
}

/// A file, with the name of its flow when the page was started.
struct OfferedFile {
    name: String,
    path: PathBuf,
}

/// The runs that are executed here.
#[derive(Clone, Default)]
struct Running(Arc<Mutex<HashMap<String, Pieces>>>);

impl FileFlows {
    /// Loads the files once, so that their problems are found now.
    pub(super) async fn load(arguments: &Studio) -> Result<Self, String> {
        let loader = recording::report(Loader::new().with_process_environment());
        let mut files: Vec<OfferedFile> = Vec::new();

        for path in &arguments.flows {
            let flow = loader.load(path).map_err(|error| error.to_string())?;
            let name = flow.flow().name();
            if files.iter().any(|other| other.name == name) {
                let name = Name(name);
                return Err(format!(
                    "two files have a flow with the name `{name}`; expected different names"
                ));
            }
            flow.connect().await.map_err(|error| error.to_string())?;
            files.push(OfferedFile {
                name: name.to_owned(),
                path: path.clone(),
            });
        }

        Ok(Self {
            files,
            loader,
            max_steps: arguments.max_steps,
            started: AtomicU64::default(),
            running: Running::default(),
            models: Mutex::default(),
        })
    }

    fn file(&self, name: &str) -> Result<&OfferedFile, FlowError> {
        let found = self.files.iter().find(|file| file.name == name);
        found.ok_or(FlowError::Unknown)
    }

    /// Loads a file, without starting its servers.
    fn read(&self, name: &str, model: Option<&str>) -> Result<FileFlow, FlowError> {
        let OfferedFile { path, .. } = self.file(name)?;
        let loader = self.loader.clone();
        let loader = match model {
            Some(model) => loader.with_model(model),
            None => loader,
        };

        let loaded = loader.load(path);
        let loaded = loaded.map_err(|error| FlowError::Failed(error.to_string()))?;
        let now = loaded.flow().name();
        if now != name {
            let file = path.display();
            let names = format_args!("`{}`; expected `{}`", Name(now), Name(name));
            let problem = format!("{file}: the name of the flow is now {names}");
            return Err(FlowError::Failed(problem));
        }
        Ok(loaded)
    }

    /// Loads a file, and starts the servers of tools that it names.
    async fn open(&self, name: &str, model: Option<&str>) -> Result<Arc<FileFlow>, FlowError> {
        let loaded = self.read(name, model)?;
        let connected = loaded.connect().await;
        connected.map_err(|error| FlowError::Failed(error.to_string()))?;
        Ok(Arc::new(loaded))
    }

    /// Loads a file for a fork.
    async fn open_fork(&self, name: &str, model: Option<&str>) -> Result<Arc<FileFlow>, FlowError> {
        let in_flow = |error| in_part(ForkPart::Flow, error);
        let in_model = |error| in_part(ForkPart::Model, error);
        let Some(model) = model else {
            return self.open(name, None).await.map_err(in_flow);
        };

        if model.trim().is_empty() {
            let problem = "the model has no name; expected one, or no other model";
            return Err(FlowError::refused(ForkPart::Model, problem));
        }
        if !self.read(name, None).map_err(in_flow)?.has_models() {
            return Err(FlowError::refused(ForkPart::Model, NO_MODELS));
        }
        self.open(name, Some(model)).await.map_err(in_model)
    }

    fn model_of(&self, run_id: &str) -> Option<String> {
        self.models().get(run_id).cloned()
    }

    fn models(&self) -> MutexGuard<'_, HashMap<String, String>> {
        self.models.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Executes a run in a task.
    async fn execute(
        &self,
        loaded: &Arc<FileFlow>,
        run_id: &str,
        journal: RunJournal,
    ) -> Result<(), FlowError> {
        let failed = |error: &dyn std::fmt::Display| {
            FlowError::Failed(loaded.hide_secrets(&error.to_string()))
        };
        let state: FlowState = journal.state().map_err(|error| failed(&error))?;
        let recorder = self.recorder(loaded, &journal, &state.input().text);
        let execution = Execution {
            loaded: Arc::clone(loaded),
            journal,
            state,
            recorder,
            pieces: self.running.begin(run_id),
            max_steps: self.max_steps,
        };
        let running = self.running.clone();
        let run_id = run_id.to_owned();
        tokio::spawn(async move {
            execution.finish(&run_id).await;
            running.end(&run_id);
        });
        Ok(())
    }

    fn recorder(&self, loaded: &Arc<FileFlow>, journal: &RunJournal, input: &str) -> RunRecorder {
        let mut settings = recording::settings(loaded).with_input(input);
        if let Some(origin) = journal.fork_origin() {
            let has_model = self.models().contains_key(journal.run_id());
            settings = settings.with_forked_from(recording::origin_of(origin, has_model));
        }
        RunRecorder::new(journal.events(), settings)
    }
}

/// Returns the error of loading a file as that of a part of a fork.
fn in_part(part: ForkPart, error: FlowError) -> FlowError {
    match error {
        FlowError::Failed(problem) => FlowError::refused(part, problem),
        other => other,
    }
}

/// Hides secrets in the error of a fork, which may quote what was recorded.
fn hidden(error: FlowError, loaded: &FileFlow) -> FlowError {
    match error {
        FlowError::ForkRefused { part, problem } => {
            FlowError::refused(part, loaded.hide_secrets(&problem))
        }
        other => other,
    }
}

/// A run that is executed.
struct Execution {
    loaded: Arc<FileFlow>,
    journal: RunJournal,
    state: FlowState,
    recorder: RunRecorder,
    pieces: Pieces,
    max_steps: u64,
}

impl Execution {
    async fn finish(mut self, run_id: &str) {
        let loaded = Arc::clone(&self.loaded);
        let (sink, told) = events(WAITING_EVENTS);
        let mut run = loaded
            .flow()
            .begin()
            .with_max_steps(self.max_steps)
            .with_journal(self.journal)
            .with_events(sink)
            .with_events(&self.recorder);

        let finished = async {
            let ended = run.finish(&mut self.state).await;
            if ended.is_ok() {
                recording::record_answer(&self.recorder, &loaded, &self.state);
            }
            // This drops the sinks, which ends the pieces.
            drop(run);
            ended
        };
        let (ended, ()) = tokio::join!(finished, watch(told, &self.pieces, &loaded));

        let error = ended.err().filter(|error| error.paused().is_none());
        if let Some(error) = error {
            let error = loaded.hide_secrets(&format!("{error:#}"));
            tell(format_args!("cogwork: run {}: {error}", Name(run_id)));
        }

        if let Err(error) = self.recorder.flush().await {
            tell(format_args!("cogwork: run {}: {error}", Name(run_id)));
        }
    }
}

impl Running {
    fn begin(&self, run_id: &str) -> Pieces {
        let pieces = Pieces::new();
        self.lock().insert(run_id.to_owned(), pieces.clone());
        pieces
    }

    fn end(&self, run_id: &str) {
        self.lock().remove(run_id);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Pieces>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Flows for FileFlows {
    fn names(&self) -> Vec<String> {
        let names = self.files.iter().map(|file| file.name.clone());
        names.collect()
    }

    async fn start(&self, store: &Store, flow: &str, input: &str) -> Result<String, FlowError> {
        let loaded = self.open(flow, None).await?;
        // Two runs may start in the same millisecond.
        let number = self.started.fetch_add(1, Ordering::Relaxed);
        let run_id = format!("{}-{number}", new_id());

        let state = FlowState::new(input);
        let journal = store.start(&run_id, loaded.flow(), &state).await?;
        self.execute(&loaded, &run_id, journal).await?;
        Ok(run_id)
    }

    async fn resume(&self, store: &Store, flow: &str, run_id: &str) -> Result<(), FlowError> {
        let model = self.model_of(run_id);
        let loaded = self.open(flow, model.as_deref()).await?;
        let journal = store.resume(run_id, loaded.flow()).await?;
        self.execute(&loaded, run_id, journal).await
    }

    async fn fork(
        &self,
        store: &Store,
        flow: &str,
        run_id: &str,
        request: &ForkRequest,
    ) -> Result<String, FlowError> {
        let loaded = self.open_fork(flow, request.model.as_deref()).await?;
        let started = request.start(store, run_id, loaded.flow()).await;
        let journal = started.map_err(|error| hidden(error, &loaded))?;

        let fork = journal.run_id().to_owned();
        if let Some(model) = &request.model {
            self.models().insert(fork.clone(), model.clone());
        }
        self.execute(&loaded, &fork, journal).await?;
        Ok(fork)
    }

    async fn fork_choices(
        &self,
        store: &Store,
        flow: &str,
        run_id: &str,
        at: u64,
    ) -> Result<ForkChoices, FlowError> {
        let loaded = self.read(flow, None);
        let loaded = loaded.map_err(|error| in_part(ForkPart::Flow, error))?;
        let choices = ForkChoices::of(store, run_id, loaded.flow(), at).await;
        let choices = choices.map_err(|error| hidden(error, &loaded))?;
        let choices = choices.with_secrets(|text| loaded.hide_secrets(text));

        let file = Escaped::new(self.file(flow)?.path.display()).to_string();
        let note = format!(
            "To change a prompt or a setting, edit {file}; a fork uses the file as it is then."
        );
        Ok(choices.with_models(loaded.has_models()).with_note(note))
    }

    fn can_fork(&self) -> bool {
        true
    }

    fn pieces(&self, run_id: &str) -> Option<Pieces> {
        self.running.lock().get(run_id).cloned()
    }
}
