use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use cogwork_flow::CancellationToken;
use cogwork_flow::engine::Journal as _;
use cogwork_journal::{RunJournal, RunQuery, RunStatus, RunSummary, Store, StoreError};
use cogwork_trace::Header;
use serde_json::Value;
use tokio::sync::Semaphore;

use crate::growing_text::Pieces;
use crate::served_flow::Begin;
use crate::{FlowError, Flows, ServedFlow};

/// Why a run stopped that was cancelled while it waited.
pub(crate) const CANCELLED: &str = "the run was cancelled";

/// How long a run may take to stop once it takes no more answers, or to be given back for an answer.
const STOPPING: Duration = Duration::from_secs(2);

/// How often to look whether a run was given back.
const AGAIN: Duration = Duration::from_millis(10);

/// Runs flows over a store, each run in a task. Clones share their runs.
#[derive(Clone)]
pub struct Runner(Arc<Shared>);

struct Shared {
    store: Store,
    flows: Box<dyn Flows>,
    started: AtomicU64,
    running: Mutex<HashMap<String, Running>>,
    /// A place for each run that is executed.
    room: Arc<Semaphore>,
    /// Cancelled when the program shuts down.
    stopping: CancellationToken,
}

/// The ids of runs that were resumed, each with the error of one that could not be.
type Resumed = Vec<(String, Result<(), FlowError>)>;

/// A run that is executed here, or was until now.
#[derive(Clone, Default)]
struct Running {
    cancel: CancellationToken,
    stopped: CancellationToken,
    pieces: Pieces,
    /// Gone once the run has stopped.
    journal: Weak<RunJournal>,
}

impl Runner {
    /// Creates a runner of these flows, such as a `Vec` of [`ServedFlow`]s. Without flows, it only shows
    /// the runs of the store.
    pub fn new(store: Store, flows: impl Flows) -> Self {
        Self(Arc::new(Shared {
            store,
            flows: Box::new(flows),
            started: AtomicU64::default(),
            running: Mutex::default(),
            room: Arc::new(Semaphore::new(Semaphore::MAX_PERMITS)),
            stopping: CancellationToken::new(),
        }))
    }

    /// Sets the maximum number of runs that are executed at the same time. Others are begun or resumed, and
    /// wait for their turn. Runs that wait for an answer don't count. Unlimited by default.
    #[must_use]
    pub fn with_concurrency(self, runs: usize) -> Self {
        let room = &self.0.room;
        room.forget_permits(room.available_permits());
        room.add_permits(runs.clamp(1, Semaphore::MAX_PERMITS));
        self
    }

    /// Starts a run of a flow, and returns its id once the start is on record. Without an id, the run
    /// gets one that sorts by time.
    ///
    /// If there is a run with this id, of this flow and with this input, its id is returned, and nothing
    /// is started. So a request whose answer was lost can be made again.
    ///
    /// # Errors
    ///
    /// Returns an error if no flow has this name, if it refuses the input, or if there is a run with this id
    /// of another flow or with another input.
    pub async fn start(
        &self,
        flow: &str,
        input: Value,
        run_id: Option<&str>,
    ) -> Result<String, FlowError> {
        let flow = self.0.flows.open(flow).await?;
        let run_id = run_id.map_or_else(|| self.new_id(), str::to_owned);
        let text = match &input {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };

        let begin = Begin::Start {
            run_id: &run_id,
            input: input.clone(),
        };
        match flow.open(self.store(), begin).await {
            Ok(journal) => self.execute(flow, journal, Some(text)),
            Err(error) if error.is_about_a_known_run() => {
                let started = flow.has_started(self.store(), &run_id, input).await;
                // It doesn't exist if somebody is about to start it.
                if !started.map_err(|_| error)? {
                    return Err(FlowError::Exists);
                }
            }
            Err(error) => return Err(error),
        }
        Ok(run_id)
    }

    /// Resumes a run, which is one that failed, was interrupted, or has an answer.
    ///
    /// # Errors
    ///
    /// Returns an error if the run or its flow doesn't exist, if the run is in use, or if its state cannot
    /// be read.
    pub async fn resume(&self, run_id: &str) -> Result<(), FlowError> {
        let run = self.find_intact(run_id).await?;
        let flow = self.0.flows.open(&run.flow).await?;
        let journal = flow.open(self.store(), Begin::Resume { run_id }).await?;
        flow.check_state(&journal)?;
        self.execute(flow, journal, None);
        Ok(())
    }

    /// Answers the event that a run waits for, in this step if one is given, and resumes the run. An
    /// answer to a step isn't used for a later question, in whichever process it is given.
    ///
    /// Returns why the run isn't resumed, if it isn't; its answer is on record all the same.
    ///
    /// # Errors
    ///
    /// Returns an error if the run doesn't exist, if it doesn't wait for the event or has an answer, or
    /// if the answer doesn't match the JSON Schema of the wait.
    pub async fn answer(
        &self,
        run_id: &str,
        event: &str,
        step: Option<&str>,
        answer: &Value,
    ) -> Result<Option<FlowError>, FlowError> {
        let status = self.find_intact(run_id).await?.status;
        let mut asking = status.waits().iter().filter(|wait| wait.event == event);
        // So that no later try answers a later question.
        let only = match (asking.next(), asking.next()) {
            (Some(only), None) => Some(only.step.as_str()),
            _ => None,
        };

        let step = step.or(only);
        let until = Instant::now() + STOPPING;
        loop {
            match self.try_to_answer(run_id, event, step, answer).await {
                // Somebody else's answer is being recorded, or the run goes on with it by now.
                Err(error) if error.is_in_use() && Instant::now() < until => {
                    tokio::time::sleep(AGAIN).await;
                }
                answered => return answered,
            }
        }
    }

    async fn try_to_answer(
        &self,
        run_id: &str,
        event: &str,
        step: Option<&str>,
        answer: &Value,
    ) -> Result<Option<FlowError>, FlowError> {
        let run = self.find_intact(run_id).await?;
        if let Some(running) = self.running(run_id) {
            if let Some(journal) = running.journal.upgrade() {
                journal.answer(event, step, answer).await?;
                self.resume_answered(run_id.to_owned(), running);
                return Ok(None);
            }
            // It may not have closed its journal yet.
            let _ = tokio::time::timeout(STOPPING, running.stopped.cancelled()).await;
        } else if let RunStatus::Failed { error } = run.status {
            return Err(FlowError::HasFailed(error));
        }

        self.store().answer(run_id, event, step, answer).await?;
        let why_not = self.resume(run_id).await.err();
        // Whoever answered at the same time has resumed it.
        let is_resumed = |error: &FlowError| error.is_in_use() && self.is_running(run_id);
        Ok(why_not.filter(|error| !is_resumed(error)))
    }

    /// Resumes a run once it has stopped, if it did so before it used an answer.
    fn resume_answered(&self, run_id: String, running: Running) {
        let runner = self.clone();
        tokio::spawn(async move {
            running.stopped.cancelled().await;
            if runner.stopping().is_cancelled() {
                return;
            }
            let stopped = runner.find(&run_id).await;
            if stopped.is_ok_and(|run| matches!(run.status, RunStatus::Open { .. })) {
                // If that fails, the run stays open.
                let _ = runner.resume(&run_id).await;
            }
        });
    }

    /// Resumes all runs of these flows that were interrupted, such as by a crash, and those whose wait
    /// has timed out. A program calls this when it starts, and every minute if waits of its flows have a
    /// timeout.
    ///
    /// Returns the id of each, and the error of one that cannot be resumed, which is left as it is. A run
    /// that somebody else executes isn't among them.
    ///
    /// # Errors
    ///
    /// Returns an error if the store cannot be read.
    pub async fn resume_interrupted(&self) -> Result<Resumed, StoreError> {
        let mut resumed = self.resume_timed_out().await?;
        resumed.extend(self.resume_due(RunQuery::new().open()).await?);
        Ok(resumed)
    }

    /// Resumes the runs of these flows whose wait has timed out, and returns them like
    /// [`resume_interrupted`](Self::resume_interrupted). Those that were interrupted are left as they
    /// are.
    ///
    /// # Errors
    ///
    /// Returns an error if the store cannot be read.
    pub async fn resume_timed_out(&self) -> Result<Resumed, StoreError> {
        self.resume_due(RunQuery::new().paused()).await
    }

    async fn resume_due(&self, query: RunQuery) -> Result<Resumed, StoreError> {
        let mut resumed = Vec::new();
        // Without the default limit, since the oldest have waited for the longest time.
        for run in self.store().query(query.limit(u32::MAX)).await? {
            // Others are resumed by the programs whose flows they are.
            let is_ours = self.offers(&run.flow) && !self.is_running(&run.run_id);
            if !is_ours || !is_due(&run.status) {
                continue;
            }
            // Opening it would wait a little for whoever executes it, once for each run.
            if self.store().is_in_use(&run.run_id).await.unwrap_or(false) {
                continue;
            }

            match self.resume(&run.run_id).await {
                Err(error) if error.is_in_use() => {}
                // It was removed a moment ago.
                Err(FlowError::MissingRun) => {}
                result => resumed.push((run.run_id, result)),
            }
        }
        Ok(resumed)
    }

    /// Cancels a run, which then has failed. It can be resumed.
    ///
    /// # Errors
    ///
    /// Returns an error if the run doesn't exist or has ended, or if it is in use by a different program and
    /// the store isn't in PostgreSQL.
    pub async fn cancel(&self, run_id: &str) -> Result<(), FlowError> {
        if let Some(running) = self.running(run_id) {
            running.cancel.cancel();
            // Only then can the journal be opened here.
            running.stopped.cancelled().await;
        }

        let run = self.find_intact(run_id).await?;
        match run.status {
            RunStatus::Ended { .. } => return Err(FlowError::Ended),
            // It failed before, or has recorded that it was cancelled.
            RunStatus::Failed { .. } => return Ok(()),
            _ => {}
        }
        // Without its flow, which may have changed since.
        Ok(self.store().cancel(run_id, CANCELLED).await?)
    }

    /// Interrupts all runs that are executed here, ends the streams of events of the
    /// [`api`](crate::api), and returns once the runs are given back, so that a different process can
    /// [resume](Self::resume_interrupted) them at once. After that, nothing is executed.
    pub async fn shut_down(&self) {
        self.stopping().cancel();

        let running: Vec<_> = lock(&self.0.running).drain().collect();
        let given_back = async {
            for (run_id, running) in running {
                running.stopped.cancelled().await;
                // Its last outcomes are still to be written.
                while self.store().is_in_use(&run_id).await.unwrap_or(false) {
                    tokio::time::sleep(AGAIN).await;
                }
            }
        };
        // Another process may have a run already.
        let _ = tokio::time::timeout(STOPPING, given_back).await;
    }

    /// Returns what is cancelled when the program shuts down.
    pub(crate) fn stopping(&self) -> &CancellationToken {
        &self.0.stopping
    }

    pub(crate) fn store(&self) -> &Store {
        &self.0.store
    }

    pub(crate) fn flows(&self) -> Vec<String> {
        self.0.flows.names()
    }

    /// Returns whether the flow of a run can be resumed here.
    pub(crate) fn offers(&self, flow: &str) -> bool {
        self.flows().iter().any(|name| name == flow)
    }

    /// Returns the summary of a run that can be used.
    async fn find_intact(&self, run_id: &str) -> Result<RunSummary, FlowError> {
        let run = self.find(run_id).await?;
        match run.status {
            // Its flow may not be known.
            RunStatus::Damaged { .. } => Err(FlowError::Failed(run.status.to_string())),
            _ => Ok(run),
        }
    }

    /// Returns the summary of a run.
    pub(crate) async fn find(&self, run_id: &str) -> Result<RunSummary, FlowError> {
        let query = RunQuery::new().run_id(run_id).limit(1);
        let found = self.store().query(query).await?.pop();
        found.ok_or(FlowError::MissingRun)
    }

    /// Starts a run with the steps of another one before this step, counted from 1, and returns its id.
    ///
    /// # Errors
    ///
    /// Returns an error if the run or its flow doesn't exist, or if it cannot be forked like this.
    pub async fn fork(&self, run_id: &str, at: u64) -> Result<String, FlowError> {
        let run = self.find_intact(run_id).await?;
        let flow = self.0.flows.open(&run.flow).await?;
        let journal = flow.open(self.store(), Begin::Fork { run_id, at }).await?;

        let fork = journal.run_id().to_owned();
        let input = self.input_of(run_id).await;
        self.execute(flow, journal, input);
        Ok(fork)
    }

    pub(crate) fn is_running(&self, run_id: &str) -> bool {
        self.running(run_id).is_some()
    }

    /// Returns the pieces of texts that a run writes now, if it is executed here.
    pub(crate) fn pieces(&self, run_id: &str) -> Option<Pieces> {
        Some(self.running(run_id)?.pieces)
    }

    fn running(&self, run_id: &str) -> Option<Running> {
        let running = lock(&self.0.running).get(run_id).cloned();
        running.filter(|running| !running.stopped.is_cancelled())
    }

    /// Executes a run in a task.
    fn execute(&self, flow: ServedFlow, journal: RunJournal, input: Option<String>) {
        let journal = Arc::new(journal);
        // Listed before the task begins, so that a client that follows it at once finds its texts.
        let running = Running {
            journal: Arc::downgrade(&journal),
            ..Running::default()
        };
        let mut all = lock(&self.0.running);
        // Those that stopped are on record.
        all.retain(|_, other| !other.stopped.is_cancelled());
        all.insert(journal.run_id().to_owned(), running.clone());

        let (room, stopping) = (Arc::clone(&self.0.room), self.stopping().clone());
        tokio::spawn(async move {
            let Running {
                cancel,
                stopped,
                pieces,
                ..
            } = running;
            // Also if a node panics.
            let _stopped = stopped.drop_guard();
            let finish = async {
                // One that is cancelled meanwhile stops at once.
                let _room = cancel.run_until_cancelled(room.acquire()).await;
                flow.finish(journal, input, cancel.clone(), pieces).await;
            };
            // Dropped, a run is as after a crash: what it has done is on record.
            stopping.run_until_cancelled(finish).await;
        });
    }

    /// Returns the input of a run, as its first event has it.
    async fn input_of(&self, run_id: &str) -> Option<String> {
        let events = self.store().events(run_id, 0).await.ok()?;
        Header::from_json(&events.first()?.json)?.input
    }

    /// Returns the id of a new run, which is the time in milliseconds with what makes it unique.
    fn new_id(&self) -> String {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let now = now.unwrap_or_default().as_millis();
        let number = self.0.started.fetch_add(1, Ordering::Relaxed);
        format!("{now}-{}-{number}", std::process::id())
    }
}

/// Returns whether a run was interrupted, or a wait of it has timed out.
fn is_due(status: &RunStatus) -> bool {
    let RunStatus::Paused { waits } = status else {
        return true;
    };

    let now = SystemTime::now();
    let mut ends = waits.iter().filter_map(|wait| wait.until);
    ends.any(|until| until <= now)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl fmt::Debug for Runner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Runner")
            .field("store", &self.0.store)
            .field("flows", &self.flows())
            .finish_non_exhaustive()
    }
}
