use std::error::Error;
use std::fmt;
use std::num::NonZeroU64;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use cogwork_flow::engine::{Journal as _, Progress, RefusedAnswer};
use cogwork_flow::watch::EventSink;
use cogwork_flow::{BoxError, CancellationToken, Flow, RunError};
use cogwork_journal::{Fork, RunJournal, Store};
use cogwork_trace::{GrowingTexts, RecorderSettings, RunRecorder};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::time::Instant;

use crate::FlowError;
use crate::growing_text::{Pieces, Writing};

/// A flow whose runs are started, resumed and forked by a [`Runner`](crate::Runner).
///
/// ```
/// use cogwork_flow::{Flow, from_fn};
/// use cogwork_studio::ServedFlow;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let flow = Flow::from_node("greet", from_fn(|text: &mut String| text.insert_str(0, "Hello ")))?;
/// let greet = ServedFlow::new(
///     flow,
///     |input| Ok(serde_json::from_value(input)?),
///     |text: &String| Some(text.clone()),
/// );
/// assert_eq!(greet.name(), "greet");
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct ServedFlow {
    flow: Arc<dyn AnyFlow>,
    hide: Option<Arc<Hide>>,
    limits: Limits,
}

/// The settings of a [`Run`](cogwork_flow::Run) that limit it.
#[derive(Clone, Copy, Default)]
struct Limits {
    max_steps: Option<u64>,
    time: Option<Duration>,
    fold_every: Option<NonZeroU64>,
}

type Hide = dyn Fn(&str) -> String + Send + Sync;

impl ServedFlow {
    /// Creates it from a flow, the state with which a run begins, and the answer of a run that ended.
    /// The input is any JSON; that of a page is a text.
    pub fn new<S>(
        flow: impl Into<Arc<Flow<S>>>,
        begin: impl Fn(Value) -> Result<S, BoxError> + Send + Sync + 'static,
        answer: impl Fn(&S) -> Option<String> + Send + Sync + 'static,
    ) -> Self
    where
        S: Serialize + DeserializeOwned + Send + Sync + 'static,
    {
        Self {
            flow: Arc::new(Typed {
                flow: flow.into(),
                begin: Box::new(begin),
                answer: Box::new(answer),
            }),
            hide: None,
            limits: Limits::default(),
        }
    }

    /// Sets a function that hides secrets in the texts that are shown or recorded for people. Nothing is
    /// hidden by default.
    #[must_use]
    pub fn with_secrets(mut self, hide: impl Fn(&str) -> String + Send + Sync + 'static) -> Self {
        self.hide = Some(Arc::new(hide));
        self
    }

    /// Sets the maximum number of steps of a run. The default is that of a flow.
    #[must_use]
    pub fn with_max_steps(mut self, steps: u64) -> Self {
        self.limits.max_steps = Some(steps);
        self
    }

    /// Sets how long a run may be executed each time it is started or resumed. It fails after that, and
    /// can be resumed. By default, it may be executed forever.
    #[must_use]
    pub fn with_time_limit(mut self, limit: Duration) -> Self {
        self.limits.time = Some(limit);
        self
    }

    /// Folds the journals of runs [every so many steps](cogwork_flow::Run::with_fold_every). By default,
    /// they aren't folded.
    #[must_use]
    pub fn with_fold_every(mut self, steps: NonZeroU64) -> Self {
        self.limits.fold_every = Some(steps);
        self
    }

    /// Returns the name of the flow.
    pub fn name(&self) -> &str {
        self.flow.name()
    }

    /// Opens the journal of a run.
    pub(crate) async fn open(
        &self,
        store: &Store,
        begin: Begin<'_>,
    ) -> Result<RunJournal, FlowError> {
        self.flow.open(store, begin).await
    }

    /// Returns whether a run was started by this flow and with this input.
    pub(crate) async fn has_started(
        &self,
        store: &Store,
        run_id: &str,
        input: Value,
    ) -> Result<bool, FlowError> {
        self.flow.has_started(store, run_id, input).await
    }

    /// Checks that the state of a run can be read. That of an earlier version of the program may not be.
    pub(crate) fn check_state(&self, journal: &RunJournal) -> Result<(), FlowError> {
        self.flow.check_state(journal)
    }

    /// Executes a run until it ends, fails or waits. How it went is on record.
    pub(crate) async fn finish(
        self,
        journal: Arc<RunJournal>,
        input: Option<String>,
        cancellation: CancellationToken,
        pieces: Pieces,
    ) {
        let mut texts = GrowingTexts::default();
        let mut recording = RecorderSettings::default();
        if let Some(hide) = self.hide {
            let also = Arc::clone(&hide);
            texts = texts.with_secrets(move |text| also(text));
            recording = recording.with_secrets(move |text| hide(text));
        }
        if let Some(input) = input {
            recording = recording.with_input(input);
        }

        let execution = Execution {
            recorder: RunRecorder::new(&journal, recording).await,
            writing: EventSink::new(Arc::new(Writing {
                texts: Mutex::new(texts),
                pieces,
            })),
            limits: self.limits,
            cancellation,
        };
        self.flow.finish(journal, execution).await;
    }
}

impl fmt::Debug for ServedFlow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ServedFlow").field(&self.name()).finish()
    }
}

/// How the journal of a run is opened.
pub(crate) enum Begin<'r> {
    Start {
        run_id: &'r str,
        input: Value,
    },
    Resume {
        run_id: &'r str,
    },
    /// With the steps before this one, counted from 1.
    Fork {
        run_id: &'r str,
        at: u64,
    },
}

/// What is used while a run is executed.
struct Execution {
    recorder: RunRecorder,
    writing: EventSink,
    limits: Limits,
    cancellation: CancellationToken,
}

/// A flow with a state of any type.
#[async_trait]
trait AnyFlow: Send + Sync {
    fn name(&self) -> &str;

    async fn open(&self, store: &Store, begin: Begin<'_>) -> Result<RunJournal, FlowError>;

    async fn has_started(
        &self,
        store: &Store,
        run_id: &str,
        input: Value,
    ) -> Result<bool, FlowError>;

    fn check_state(&self, journal: &RunJournal) -> Result<(), FlowError>;

    async fn finish(&self, journal: Arc<RunJournal>, execution: Execution);
}

struct Typed<S> {
    flow: Arc<Flow<S>>,
    begin: Box<BeginWith<S>>,
    answer: Box<AnswerOf<S>>,
}

type BeginWith<S> = dyn Fn(Value) -> Result<S, BoxError> + Send + Sync;
type AnswerOf<S> = dyn Fn(&S) -> Option<String> + Send + Sync;

impl<S> Typed<S> {
    /// Returns the state with which a run begins.
    fn first_state(&self, input: Value) -> Result<S, FlowError> {
        let state = (self.begin)(input);
        state.map_err(|error| FlowError::Refused(format!("the input cannot be used: {error}")))
    }
}

#[async_trait]
impl<S> AnyFlow for Typed<S>
where
    S: Serialize + DeserializeOwned + Send + Sync + 'static,
{
    fn name(&self) -> &str {
        self.flow.name()
    }

    async fn open(&self, store: &Store, begin: Begin<'_>) -> Result<RunJournal, FlowError> {
        let flow = &*self.flow;
        match begin {
            Begin::Start { run_id, input } => {
                let state = self.first_state(input)?;
                Ok(store.start(run_id, flow, &state).await?)
            }
            Begin::Resume { run_id } => Ok(store.resume(run_id, flow).await?),
            Begin::Fork { run_id, at } => {
                // The file of the flow may have been edited for the fork.
                let fork = Fork::at(at).with_changed_flow(true);
                Ok(store.fork(run_id, flow, fork).await?)
            }
        }
    }

    fn check_state(&self, journal: &RunJournal) -> Result<(), FlowError> {
        journal.state::<S>()?;
        Ok(())
    }

    async fn has_started(
        &self,
        store: &Store,
        run_id: &str,
        input: Value,
    ) -> Result<bool, FlowError> {
        let state = self.first_state(input)?;
        Ok(store.is_started_with(run_id, &self.flow, &state).await?)
    }

    async fn finish(&self, journal: Arc<RunJournal>, execution: Execution) {
        let mut state = match journal.state::<S>() {
            Ok(state) => state,
            // Only of a fork, since a run that is resumed was checked. It is on record, because there is
            // nobody else to tell.
            Err(error) => {
                let error = &error.to_string();
                let _ = journal.progress(Progress::Failed { error }).await;
                return;
            }
        };
        let recorder = execution.recorder;

        let run = self.flow.begin().with_journal(journal);
        let mut run = run
            .with_events(&recorder)
            .with_events(execution.writing)
            .with_cancellation(execution.cancellation);
        let limits = execution.limits;
        if let Some(steps) = limits.max_steps {
            run = run.with_max_steps(steps);
        }
        if let Some(time) = limits.time {
            run = run.with_deadline(Instant::now() + time);
        }
        if let Some(steps) = limits.fold_every {
            run = run.with_fold_every(steps);
        }

        let mut finished = run.finish(&mut state).await;
        if let Err(error) = &finished
            && is_refusal(error)
        {
            // The answer was discarded, and the run waits for another one.
            finished = run.finish(&mut state).await;
        }
        if finished.is_ok()
            && let Some(answer) = (self.answer)(&state)
        {
            recorder.record_answer(&answer);
        }
        // While the run is still open, so that whoever opens it next finds everything on record.
        let _ = recorder.flush().await;
    }
}

/// Returns whether a run failed because a wait could not read its answer.
fn is_refusal(error: &RunError) -> bool {
    let mut causes = std::iter::successors(error.source(), |cause| (*cause).source());
    causes.any(|cause| cause.is::<RefusedAnswer>())
}
