use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use cogwork_flow::BoxError;
use cogwork_flow::engine::{
    Awaited, Entry, EntryError, Journal, Json, Progress, Recorded, RefusedAnswer, Snapshot,
    StateDigest, StepError, StepName, Waited, Work,
};
use cogwork_flow::watch::EventKind;
use cogwork_text::Name;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::delivery::{Delivery, To};
use crate::header::Header;
use crate::opener::Opener;
use crate::read::Record;
use crate::write::{RunLog, Writer};
use crate::{ForkOrigin, RunEvents, Store, StoreError, StoreErrorKind, schema};

/// The journal of a run in a store, for [`Run::with_journal`](cogwork_flow::Run::with_journal).
///
/// While it exists, the run cannot be opened a second time.
///
/// ```
/// use cogwork_flow::{Flow, from_fn};
/// use cogwork_journal::Store;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// let flow = Flow::builder("add")
///     .start("one")
///     .node("one", from_fn(|n: &mut u32| *n += 1))
///     .end("one", "default")
///     .build()?;
/// let journal = Store::files(folder.path()).start("7", &flow, &41).await?;
/// let mut n = journal.state()?;
/// flow.begin().with_journal(journal).finish(&mut n).await?;
/// assert_eq!(n, 42);
/// # Ok(())
/// # }
/// ```
pub struct RunJournal {
    opener: Opener,
    place: String,
    header: Header,
    recorded: Recorded<RunLog>,
    /// Whether the run had ended when it was opened, and its flow is still the same.
    has_ended: bool,
    /// Whether the program got the state from here.
    gave_state: AtomicBool,
    /// Held from looking at the waits until an answer is recorded, so that none gets two.
    answering: tokio::sync::Mutex<()>,
}

impl RunJournal {
    /// A changed flow may be longer, so its run hasn't ended.
    ///
    /// # Errors
    ///
    /// Returns an error if an entry cannot follow the entries before it.
    pub(crate) fn new(
        opener: Opener,
        record: Record,
        is_changed: bool,
        writer: Writer,
        now: Option<SystemTime>,
    ) -> Result<Self, EntryError> {
        let Record { header, lines } = record;
        let place = opener.place();
        let last = lines.last().map(|line| &line.entry);
        let has_ended = !is_changed && matches!(last, Some(Entry::Ended { .. }));
        let log = RunLog::start(place.clone(), writer);
        let entries = lines.into_iter().map(|line| line.entry);
        let mut recorded = Recorded::over(header.run_id.as_str(), entries, log)?;
        // All machines compare the times of waits with the clock of the database.
        if let Some(now) = now {
            recorded = recorded.with_time(now);
        }

        Ok(Self {
            opener,
            place,
            header,
            recorded,
            has_ended,
            gave_state: AtomicBool::new(false),
            answering: tokio::sync::Mutex::default(),
        })
    }

    /// Returns the run that this one was forked from; `None` if it wasn't forked.
    pub fn fork_origin(&self) -> Option<&ForkOrigin> {
        self.header.fork.as_ref()
    }

    /// Returns whether the run had ended when it was opened, with the same flow. Then there is nothing to
    /// resume.
    pub fn has_ended(&self) -> bool {
        self.has_ended
    }

    /// Returns the store of the run.
    pub fn store(&self) -> Store {
        Store(Arc::clone(&self.opener.backend))
    }

    /// Returns where events of the run are added, for people to read.
    pub fn events(&self) -> RunEvents {
        self.recorded.log().events(&self.header.run_id)
    }

    /// Returns where events of the run are added, and keeps the run in use until that is dropped. For a
    /// run whose outcomes are kept elsewhere, such as in Restate.
    pub fn into_events(self) -> RunEvents {
        let mut events = self.events();
        // By itself, the handle doesn't keep the queue open.
        events.run = Some(Arc::new(self));
        events
    }

    /// Returns the state with which to resume the run: the state of the last snapshot, or the input
    /// if there is none.
    ///
    /// # Errors
    ///
    /// Returns an error if the state isn't an `S`.
    pub fn state<S: DeserializeOwned>(&self) -> Result<S, StoreError> {
        self.gave_state.store(true, Ordering::Relaxed);
        match self.recorded.snapshot() {
            Some(snapshot) => self.read("state in the snapshot", snapshot.state.as_str()),
            None => self.input(),
        }
    }

    /// Returns the input with which the run was started.
    ///
    /// # Errors
    ///
    /// Returns an error if the input isn't a `T`.
    pub fn input<T: DeserializeOwned>(&self) -> Result<T, StoreError> {
        self.read("input", self.header.input.get())
    }

    /// Answers a run that is executed in this process, like [`Store::answer`](crate::Store::answer).
    ///
    /// # Errors
    ///
    /// The same as [`Store::answer`](crate::Store::answer).
    pub fn answer(
        &self,
        event: &str,
        step: Option<&str>,
        answer: &impl Serialize,
    ) -> impl Future<Output = Result<(), StoreError>> + Send {
        let to = To::Waiting(step.map(str::to_owned));
        let delivery = Delivery::of(event, answer, to);
        async move { self.take_answer(delivery?).await }
    }

    /// Records that the run has failed, also for those who read its events.
    pub(crate) async fn cancel(&self, error: String) -> Result<(), StoreError> {
        let run_id = &self.header.run_id;
        if self.has_ended {
            return Err(StoreError::ended(run_id));
        }
        let failed = Progress::Failed { error: &error };
        let written = self.recorded.progress(failed).await;
        written.map_err(|error| StoreError::of_journal(&self.place, error))?;

        // With no more than their header, nobody wanted them.
        if self.store().events(run_id, 0).await?.len() > 1
            && let Ok(event) = Json::of(&EventKind::Failed { error })
        {
            let events = self.events();
            events.push(event.as_str().to_owned());
            events.written().await?;
        }
        Ok(())
    }

    /// Records an answer that the run can use.
    pub(crate) async fn take_answer(&self, delivery: Delivery) -> Result<(), StoreError> {
        // Other processes may answer a wait as well, also while the run is open here, so the database
        // decides if it can.
        let Opener { backend, run_id } = &self.opener;
        if let To::Waiting(_) = delivery.to
            && backend.offer(run_id, &delivery).await?
        {
            return Ok(());
        }

        let _alone = self.answering.lock().await;
        self.check_answer(&delivery)?;

        let delivered = self.recorded.deliver(&delivery.event, delivery.answer);
        let delivered = delivered.await;
        delivered.map_err(|error| StoreError::of_journal(&self.place, error))
    }

    /// Checks that the run hasn't ended, that a node of the flow waits for this event, or a call inside
    /// a node, and that the waits accept the answer.
    fn check_answer(&self, delivery: &Delivery) -> Result<(), StoreError> {
        let Delivery { event, answer, .. } = delivery;
        if self.has_ended {
            return Err(StoreError::ended(&self.header.run_id));
        }
        delivery.check_waits(&self.header.run_id, &self.recorded.waits())?;
        // A call inside a node may wait for an event that isn't in the graph.
        if !self.recorded.awaits(event) {
            self.header.check_event(&self.place, event)?;
        }

        let checked = self.check(event, answer);
        checked.map_err(|problem| StoreError::new(StoreErrorKind::RefusedAnswer, problem))
    }

    /// Checks that an answer comes in time, and matches the schema of its wait.
    fn check(&self, event: &str, answer: &Json) -> Result<(), String> {
        // Otherwise, it would depend on who continues the run first.
        if self.recorded.has_timed_out(event) {
            let event = Name(event);
            return Err(format!(
                "the answer to `{event}` cannot be used any more: its wait has timed out"
            ));
        }
        schema::check_answer(event, self.recorded.schemas(event), answer)
    }

    /// Returns the error for a run that began with a different state. Where the two states differ
    /// is known if the first one is on record, as the input or in the snapshot.
    fn another_state(&self, recorded: StateDigest, given: &Json) -> StoreError {
        let snapshot = self.recorded.snapshot().map(|snapshot| snapshot.state);
        let state = snapshot.or_else(|| Json::of(&self.header.input).ok());
        // A program may have made its first state of the input, which then says nothing about it.
        let state = state.filter(|state| StateDigest::of(state) == Some(recorded));

        let recorded = state.as_ref().map(Json::as_str);
        self.header
            .another_state(&self.place, recorded, given.as_str())
    }

    fn read<T: DeserializeOwned>(&self, what: &str, json: &str) -> Result<T, StoreError> {
        serde_json::from_str(json).map_err(|error| {
            let place = &self.place;
            let run_id = Name(&self.header.run_id);
            StoreError::new(
                StoreErrorKind::Value,
                format_args!("{place}: the {what} of the run `{run_id}` cannot be read: {error}"),
            )
        })
    }
}

#[async_trait]
impl Journal for RunJournal {
    fn run_id(&self) -> &str {
        self.recorded.run_id()
    }

    fn begin(&self, state: &Json) -> Result<(), BoxError> {
        let given = StateDigest::of(state);
        let differing = given.and_then(|given| Some((given, self.recorded.begin_with(given)?)));
        let Some((given, recorded)) = differing else {
            return Ok(());
        };

        // A `HashSet` in a state that was read from the record may have been written in another order.
        let is_from_here = self.gave_state.load(Ordering::Relaxed);
        if is_from_here && recorded.is_equal_in_any_order(&given) {
            return Ok(());
        }
        Err(self.another_state(recorded, state).into())
    }

    async fn call(&self, name: &StepName, work: Work<'_>) -> Result<Json, StepError> {
        // A process that was stopped for longer than its lease would otherwise make calls that another one
        // has on record, until it writes.
        let is_held = self.recorded.log().is_held().await;
        is_held
            .unwrap_or_else(|| Err(StoreError::gone(self.run_id(), &self.place)))
            .map_err(StepError::journal)?;

        self.recorded.call(name, work).await
    }

    async fn find(&self, name: &StepName) -> Result<Option<Json>, BoxError> {
        self.recorded.find(name).await
    }

    async fn sleep(&self, step: &StepName, duration: Duration) -> Result<(), BoxError> {
        self.recorded.sleep(step, duration).await
    }

    async fn wait(&self, step: &StepName, awaited: Awaited<'_>) -> Result<Waited, BoxError> {
        self.recorded.wait(step, awaited).await
    }

    async fn deliver(&self, event: &str, answer: Json) -> Result<(), BoxError> {
        if self.has_ended {
            let ended = StoreError::ended(&self.header.run_id);
            return Err(RefusedAnswer(ended.to_string()).into());
        }
        // Whether the flow has a node for the event is checked by the run, which knows the flow.
        self.check(event, &answer).map_err(RefusedAnswer)?;

        self.recorded.deliver(event, answer).await
    }

    fn awaits(&self, event: &str) -> bool {
        self.recorded.awaits(event)
    }

    async fn progress(&self, progress: Progress<'_>) -> Result<(), BoxError> {
        self.recorded.progress(progress).await
    }

    fn snapshot(&self) -> Option<Snapshot> {
        self.recorded.snapshot()
    }

    async fn fold(&self, snapshot: Snapshot) -> Result<(), BoxError> {
        self.recorded.fold(snapshot).await
    }
}

impl fmt::Debug for RunJournal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunJournal")
            .field("run_id", &self.header.run_id)
            .field("flow", &self.header.flow)
            .field("place", &self.place)
            .finish_non_exhaustive()
    }
}
