//! The flows of files, which the page starts and resumes.

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use cogwork_agents::{FileFlow, FlowState, Loader};
use cogwork_flow::events;
use cogwork_flow::journal::Journal as _;
use cogwork_journal::{AnyStore, Fork, RunJournal, Store};
use cogwork_studio::{FlowError, Flows, Pieces};
use cogwork_text::Name;
use cogwork_trace::{RecorderSettings, RunRecorder};

use super::watching::watch;
use crate::arguments::Studio;
use crate::output::tell;
use crate::run::record::{Journal, new_id};
use crate::run::recording;

/// How many events of a run may wait to be shown.
const WAITING_EVENTS: usize = 10_000;

/// The flows that the command line names.
pub(super) struct FileFlows {
    flows: Vec<Arc<FileFlow>>,
    records: Option<PathBuf>,
    max_steps: u64,
    started: AtomicU64,
    running: Running,
}

/// The runs that are executed here.
#[derive(Clone, Default)]
struct Running(Arc<Mutex<HashMap<String, Pieces>>>);

impl FileFlows {
    /// Loads the files, and starts the servers of tools that they name.
    pub(super) async fn load(arguments: &Studio, records: Option<PathBuf>) -> Result<Self, String> {
        let loader = recording::report(Loader::new().with_process_environment());
        let mut flows: Vec<Arc<FileFlow>> = Vec::new();

        for file in &arguments.flows {
            let flow = loader.load(file).map_err(|error| error.to_string())?;
            let name = flow.flow().name();
            if flows.iter().any(|other| other.flow().name() == name) {
                let name = Name(name);
                return Err(format!(
                    "two files have a flow with the name `{name}`; expected different names"
                ));
            }
            flow.connect().await.map_err(|error| error.to_string())?;
            flows.push(Arc::new(flow));
        }

        Ok(Self {
            flows,
            records,
            max_steps: arguments.max_steps,
            started: AtomicU64::default(),
            running: Running::default(),
        })
    }

    fn flow(&self, name: &str) -> Result<&Arc<FileFlow>, FlowError> {
        let found = self.flows.iter().find(|flow| flow.flow().name() == name);
        found.ok_or(FlowError::Unknown)
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
        let recorder = self.recorder(loaded, run_id).await;
        let recorder = recorder.map_err(|error| failed(&error))?;

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

    async fn recorder(
        &self,
        loaded: &Arc<FileFlow>,
        run_id: &str,
    ) -> Result<Option<RunRecorder>, std::io::Error> {
        let Some(folder) = self.records.clone() else {
            return Ok(None);
        };
        let loaded = Arc::clone(loaded);
        let run_id = run_id.to_owned();
        let settings = RecorderSettings::default()
            .with_redaction(move |text| Cow::Owned(loaded.hide_secrets(text)));

        let opening =
            tokio::task::spawn_blocking(move || RunRecorder::in_folder(folder, &run_id, settings));
        opening.await.map_err(std::io::Error::other)?.map(Some)
    }
}

/// A run that is executed.
struct Execution {
    loaded: Arc<FileFlow>,
    journal: RunJournal,
    state: FlowState,
    recorder: Option<RunRecorder>,
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
            .with_journal(Journal::new(self.journal, &loaded))
            .with_events(sink);
        if let Some(recorder) = &self.recorder {
            run = run.with_events(recorder);
        }

        let finished = async {
            let ended = run.finish(&mut self.state).await;
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

        // The last lines are written when the recorder is dropped.
        let recorder = self.recorder.take();
        let _ = tokio::task::spawn_blocking(move || drop(recorder)).await;
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
        let names = self.flows.iter().map(|flow| flow.flow().name());
        names.map(str::to_owned).collect()
    }

    async fn start(&self, store: &AnyStore, flow: &str, input: &str) -> Result<String, FlowError> {
        let loaded = self.flow(flow)?;
        // Two runs may start in the same millisecond.
        let number = self.started.fetch_add(1, Ordering::Relaxed);
        let run_id = format!("{}-{number}", new_id());

        let state = FlowState::new(input);
        let journal = store.start(&run_id, loaded.flow(), &state).await?;
        self.execute(loaded, &run_id, journal).await?;
        Ok(run_id)
    }

    async fn resume(&self, store: &AnyStore, flow: &str, run_id: &str) -> Result<(), FlowError> {
        let loaded = self.flow(flow)?;
        let journal = store.resume(run_id, loaded.flow()).await?;
        self.execute(loaded, run_id, journal).await
    }

    async fn fork(
        &self,
        store: &AnyStore,
        flow: &str,
        run_id: &str,
        at: u64,
    ) -> Result<String, FlowError> {
        let loaded = self.flow(flow)?;
        let journal = store.fork(run_id, loaded.flow(), Fork::at(at)).await?;
        let fork = journal.run_id().to_owned();
        self.execute(loaded, &fork, journal).await?;
        Ok(fork)
    }

    fn can_fork(&self) -> bool {
        true
    }

    fn pieces(&self, run_id: &str) -> Option<Pieces> {
        self.running.lock().get(run_id).cloned()
    }
}
