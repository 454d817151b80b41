use std::fmt;
use std::num::NonZeroU64;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use cogwork_text::Name;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::context::{Context, Named, Walk};
use crate::cursor::Cursor;
use crate::events::Watch;
use crate::journal::{Journaled, MAX_OUTCOME, encode};
use crate::stop::{Stop, unless_stopped};
use crate::visit::Failure;
use crate::{
    Action, EventKind, EventSink, Flow, Journal, Json, MemoryJournal, OutcomeProblem, Paused, Progress,
    RunError, Snapshot,
};

/// A run of a flow: a cursor over the checked graph.
///
/// [`finish`](Run::finish) is a loop over [`step`](Run::step), so a program that steps by itself
/// sees exactly what a whole run does. The state is handed to each step and belongs to the caller
/// between steps.
///
/// ```
/// use cogwork_flow::{Flow, Stepped, from_fn};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let flow = Flow::builder("greet")
///     .start("hello")
///     .node("hello", from_fn(|text: &mut String| text.push_str("Hello")))
///     .node("name", from_fn(|text: &mut String| text.push_str(", Ada")))
///     .edge("hello", "default", "name")
///     .end("name", "default")
///     .build()?;
///
/// let mut text = String::new();
/// let mut run = flow.begin().max_steps(100);
/// while let Stepped::Moved { from, to, .. } = run.step(&mut text).await? {
///     assert_eq!((from, to, text.as_str()), ("hello", "name", "Hello"));
/// }
/// assert_eq!(text, "Hello, Ada");
/// # Ok(())
/// # }
/// ```
pub struct Run<'f, S> {
    flow: &'f Flow<S>,
    cursor: Cursor<'f>,
    context: Context<'f>,
    stop: Option<Box<Stop>>,
    /// Boxed, as few runs have any of it.
    extra: Option<Box<Extra<S>>>,
}

struct Extra<S> {
    id: Option<Arc<str>>,
    sink: Option<EventSink>,
    max_outcome: usize,
    fold: Option<(NonZeroU64, WriteState<S>)>,
    /// Why the journal's snapshot is none of this flow.
    misplaced: Option<String>,
}

type WriteState<S> = fn(&S) -> Result<Json, OutcomeProblem>;

impl<S> Default for Extra<S> {
    fn default() -> Self {
        Self { id: None, sink: None, max_outcome: MAX_OUTCOME, fold: None, misplaced: None }
    }
}

/// What one step of a run came to.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stepped<'f> {
    /// The run went on to another node, or to the same one again.
    Moved {
        /// The node that was visited.
        from: &'f str,
        /// The label it answered.
        action: Action,
        /// The node to be visited next.
        to: &'f str,
    },
    /// The run waits for an event; see [`Wait`](crate::Wait).
    Paused(Paused),
    /// The run is at its end.
    Ended(Ended),
}

/// The end of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Ended {
    /// The label on which the flow ended.
    pub action: Action,
    /// How many nodes were visited, repeated visits counted.
    pub steps: u64,
}

impl<'f, S> Run<'f, S> {
    /// How many steps a run may take unless [`max_steps`](Run::max_steps) says otherwise: 10,000.
    pub const DEFAULT_MAX_STEPS: u64 = 10_000;

    pub(crate) fn new(flow: &'f Flow<S>) -> Self {
        let mut context = Context::new(Self::DEFAULT_MAX_STEPS);
        if flow.wiring.waits {
            let mailbox = Some(Arc::new(MemoryJournal::new("")));
            context.named = Some(Box::new(Named { mailbox, ..Named::default() }));
        }
        Self { flow, cursor: Cursor::at_start(&flow.wiring), context, stop: None, extra: None }
    }

    /// How many steps the run may take in all, those in subflows counted. It may be raised when
    /// the limit was reached, and the run goes on.
    ///
    /// # Default
    ///
    /// [`Run::DEFAULT_MAX_STEPS`].
    #[must_use]
    pub fn max_steps(mut self, steps: u64) -> Self {
        self.context.max_steps = steps;
        self
    }

    /// When the run stops, wherever it is. The clock is tokio's, so it can be paused in tests.
    ///
    /// # Default
    ///
    /// Never.
    #[must_use]
    pub fn deadline(mut self, deadline: Instant) -> Self {
        self.stop.get_or_insert_default().deadline = Some(deadline);
        self
    }

    /// Stops the run, wherever it is, when the token is cancelled. A run whose nodes never wait
    /// looks at it, as at the deadline, every 128 steps.
    ///
    /// # Default
    ///
    /// No token; dropping the future stops a run as well, but says nothing of where it was.
    #[must_use]
    pub fn cancelled_by(mut self, token: CancellationToken) -> Self {
        self.stop.get_or_insert_default().token = Some(token);
        self
    }

    /// The name of the run in its events.
    ///
    /// # Default
    ///
    /// The run id of its journal; without one `run 1`, `run 2` and so on, counted over the process.
    #[must_use]
    pub fn id(mut self, id: impl Into<Arc<str>>) -> Self {
        self.extra().id = Some(id.into());
        self
    }

    /// Tells what happens in the run; see [`events`](crate::events()).
    ///
    /// # Default
    ///
    /// Nobody is told, and it costs nothing.
    #[must_use]
    pub fn events_to(mut self, sink: EventSink) -> Self {
        self.extra().sink = Some(sink);
        self
    }

    /// Records every outcome of `exec`, and uses those that are on record already: with the journal
    /// of an earlier run, and the state that one began with, the run goes on where that one stopped.
    ///
    /// What `post` sees is what was read back from the record, also when it is new.
    ///
    /// # Default
    ///
    /// Nothing is recorded, and it costs nothing.
    #[must_use]
    pub fn journal(mut self, journal: impl Journal + 'f) -> Self {
        if let Some(snapshot) = journal.snapshot() {
            match Cursor::at_node(&self.flow.wiring, &snapshot.node, snapshot.number) {
                _ if snapshot.number > snapshot.steps => {
                    let Snapshot { number, steps, .. } = snapshot;
                    let problem =
                        format!("its snapshot counts {number} steps of the flow, and {steps} in all");
                    self.extra().misplaced = Some(problem);
                }
                Some(cursor) => {
                    self.cursor = cursor;
                    self.context.begin_at(snapshot.steps);
                }
                None => {
                    let node = snapshot.node.join("/");
                    let problem =
                        format!("its snapshot stands at `{}`, which is no node of this flow", Name(&node));
                    self.extra().misplaced = Some(problem);
                }
            }
        }
        let max_outcome = self.extra().max_outcome;
        self.named().journal = Some(Journaled::new(Arc::new(journal), max_outcome));
        self
    }

    /// How large the JSON of an outcome may be, in bytes. One that is larger fails its `exec`, and is
    /// not recorded. Without a journal nothing is measured.
    ///
    /// # Default
    ///
    /// 16 MiB.
    #[must_use]
    pub fn max_outcome(mut self, bytes: usize) -> Self {
        self.extra().max_outcome = bytes;
        if let Some(journal) = &mut self.named().journal {
            journal.max_outcome = bytes;
        }
        self
    }

    /// Puts a snapshot of the state in place of the record each time so many steps were taken, not
    /// counting those inside items and branches: the record of a long run then stays short. In a replay
    /// nothing is folded before the run is past its record. Where many answers wait for their steps, which
    /// each snapshot has to repeat, a fold is left out until as many lines were added.
    ///
    /// # Default
    ///
    /// The record grows as long as the run goes on.
    #[must_use]
    pub fn fold_every(mut self, steps: NonZeroU64) -> Self
    where
        S: Serialize + DeserializeOwned,
    {
        self.extra().fold = Some((steps, |state| {
            let json = Json::of(state)?;
            json.read::<S>()?; // a snapshot that cannot be read back would lose the run
            Ok(json)
        }));
        self
    }

    /// Brings the answer of an event that a [`Wait`](crate::Wait) waits for, now or later.
    ///
    /// # Errors
    ///
    /// When no node of the flow waits for this event, or the answer cannot be recorded.
    pub async fn deliver(&self, event: &str, answer: &impl Serialize) -> Result<(), RunError> {
        let node = self.node().unwrap_or_default();
        let failed = |error| RunError::failed(self.flow_path(), node, Failure::Journal(error));
        let events = self.flow.wiring.events();

        let journal = self.keeps_answers().filter(|_| events.contains(event));
        let Some(journal) = journal else {
            let known = events.iter().cloned().collect();
            return Err(RunError::unknown_event(self.flow_path(), node, event, known));
        };

        let max_outcome = self.extra.as_ref().map_or(MAX_OUTCOME, |extra| extra.max_outcome);
        let answer = encode(answer, max_outcome).map_err(|problem| failed(problem.into()))?;
        journal.deliver(event, answer).await.map_err(failed)
    }

    /// What keeps the answers of events until they are taken; `None` where no node waits for any.
    fn keeps_answers(&self) -> Option<&(dyn Journal + 'f)> {
        let named = self.context.named.as_deref()?;
        match (&named.journal, &named.mailbox) {
            (Some(journal), _) => Some(&**journal),
            (None, Some(mailbox)) => Some(mailbox.as_ref()),
            (None, None) => None,
        }
    }

    /// How many nodes were visited so far.
    pub fn steps(&self) -> u64 {
        self.context.steps()
    }

    /// The node to be visited next; `None` at the end.
    pub fn node(&self) -> Option<&'f str> {
        self.cursor.place().map(|place| place.name.as_str())
    }

    /// The names of the flow and of the subflows down to that node, outermost first; at the end that of
    /// the flow alone.
    pub fn flow_path(&self) -> Vec<String> {
        self.cursor.flow_path()
    }

    /// Visits the next node and follows the edge of the action it answers.
    ///
    /// At the end it answers the same [`Stepped::Ended`] again. The future may be dropped at any
    /// `await`, and the run stays where it was: the next call visits the node anew.
    ///
    /// # Errors
    ///
    /// When the node fails or panics, answers an action it does not declare, the limit of steps or
    /// the deadline is reached, the run is cancelled, or its journal fails. The run stays at the
    /// node, so the call may be made again.
    pub async fn step(&mut self, state: &mut S) -> Result<Stepped<'f>, RunError> {
        let from = self.node().unwrap_or_default();
        match self.walk(state, false).await {
            Ok(action) => Ok(match self.node() {
                Some(to) => Stepped::Moved { from, action, to },
                None => Stepped::Ended(self.end(action)),
            }),
            Err(error) => error.into_paused().map(Stepped::Paused),
        }
    }

    /// Steps to the end, or until the run waits for an event: answers [`Stepped::Ended`] or
    /// [`Stepped::Paused`].
    ///
    /// # Errors
    ///
    /// As [`step`](Run::step).
    pub async fn advance(&mut self, state: &mut S) -> Result<Stepped<'f>, RunError> {
        match self.walk(state, true).await {
            Ok(action) => Ok(Stepped::Ended(self.end(action))),
            Err(error) => error.into_paused().map(Stepped::Paused),
        }
    }

    /// Steps to the end. When it stops before, the run stays where it was and can go on.
    ///
    /// # Errors
    ///
    /// As [`step`](Run::step), and when the run [pauses](RunError::paused).
    pub async fn finish(&mut self, state: &mut S) -> Result<Ended, RunError> {
        let action = self.walk(state, true).await?;
        Ok(self.end(action))
    }

    /// One step, or all to the end. Answers the last action.
    async fn walk(&mut self, state: &mut S, to_the_end: bool) -> Result<Action, RunError> {
        if self.extra.is_some() {
            self.prepare()?;
        }
        loop {
            let fold = self.extra.as_ref().and_then(|extra| extra.fold);
            let far = to_the_end && fold.is_none();
            let walked = {
                let Self { context, flow, cursor, stop, .. } = &mut *self;
                let mut walk = Walk { context, flow, cursor, around: None, state, to_the_end: far };
                unless_stopped(stop.as_deref(), pin!(walk.run())).await
            };
            let walked = walked.unwrap_or_else(|stopped| match self.cursor.ended() {
                // It came too late: what was cut off is the wait until the end is on record.
                Some(action) => Ok(action.clone()),
                None => Err(RunError::stopped(self.flow_path(), self.node().unwrap_or_default(), stopped)),
            });
            let action = match walked {
                Ok(action) => action,
                Err(error) => return Err(Box::pin(self.stopped(error)).await),
            };
            if let Some((every, write)) = fold
                && self.cursor.place().is_some()
                && self.cursor.steps() % every == 0
            {
                Box::pin(self.fold_with(write(state))).await?;
            }
            if !to_the_end || self.cursor.place().is_none() {
                return Ok(action);
            }
        }
    }

    fn end(&self, action: Action) -> Ended {
        Ended { action, steps: self.steps() }
    }

    /// Tells that the run stopped.
    async fn stopped(&self, error: RunError) -> RunError {
        let Some(named) = self.context.named.as_deref() else { return error };
        let line = error.to_string();
        if let Some(watch) = &named.watch {
            let (step, kind) = match error.paused() {
                Some(paused) => (None, EventKind::Paused(paused.clone())),
                None => (
                    // Where it was stopped from outside, the step that was cut off.
                    error.step().cloned().or_else(|| {
                        let place = self.cursor.place()?;
                        Some(named.step(&self.cursor, None, place).name)
                    }),
                    EventKind::Failed { error: line.clone() },
                ),
            };
            watch.tell(step, kind);
        }
        if let (Some(journal), None) = (&named.journal, error.paused()) {
            // The error that is returned says more than one about telling it would.
            let _ = journal.progress(Progress::Failed { error: &line }).await;
        }
        error
    }

    async fn fold_with(&self, state: Result<Json, OutcomeProblem>) -> Result<(), RunError> {
        let failed = |error| {
            RunError::failed(self.flow_path(), self.node().unwrap_or_default(), Failure::Journal(error))
        };
        let Some(journal) = self.context.named.as_ref().and_then(|named| named.journal.as_ref()) else {
            return Ok(());
        };
        let state = state.map_err(|problem| {
            failed(format!("no snapshot can be made of the state: {}", problem.detail()).into())
        })?;
        let node = self.cursor.names().cloned().collect();
        let snapshot = Snapshot::new(node, self.cursor.steps(), self.steps(), state);
        journal.fold(snapshot).await.map_err(failed)
    }

    /// Begins to tell what happens, once, and looks whether the journal is one of this flow.
    fn prepare(&mut self) -> Result<(), RunError> {
        let Some(extra) = &mut self.extra else { return Ok(()) };
        if let Some(problem) = &extra.misplaced {
            let error = Failure::Journal(problem.clone().into());
            return Err(RunError::failed(self.flow_path(), self.node().unwrap_or_default(), error));
        }
        let Some(sink) = extra.sink.take() else { return Ok(()) };
        let id = extra.id.clone();
        let named = self.named();
        let run = id.or_else(|| named.journal.as_ref().map(|journal| journal.run_id().into()));
        let run = run.unwrap_or_else(|| {
            static RUNS: AtomicU64 = AtomicU64::new(0);
            format!("run {}", RUNS.fetch_add(1, Ordering::Relaxed) + 1).into()
        });
        let watch = Watch { run, sink, started: Instant::now() };
        watch.tell(None, EventKind::RunStarted);
        named.watch = Some(watch);
        Ok(())
    }

    fn extra(&mut self) -> &mut Extra<S> {
        self.extra.get_or_insert_default()
    }

    fn named(&mut self) -> &mut Named<'f> {
        self.context.named.get_or_insert_default()
    }
}

impl<S> fmt::Debug for Run<'_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Run")
            .field("node", &self.node())
            .field("steps", &self.steps())
            .finish_non_exhaustive()
    }
}
