use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use async_trait::async_trait;
use cogwork_text::{Escaped, Name};
use tokio::sync::Notify;

use super::clock::Clock;
use super::index::{Index, Known, What};
use super::{
    Awaited, Entry, EntryError, Journal, Json, Log, Progress, Snapshot, StateDigest, StepError,
    Waited, Work,
};
use crate::BoxError;
use crate::engine::StepName;
use crate::execute::recorder::shortened;

/// A journal in memory, for tests and for runs that pause within one process.
///
/// ```
/// use cogwork_flow::{Flow, Proceeded, Wait};
/// use cogwork_flow::engine::{Journal, MemoryJournal};
/// use std::sync::Arc;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let ask = Wait::for_event("name", |text: &mut String, name: String| text.push_str(&name));
/// let flow = Flow::builder("greet").start("ask").wait("ask", ask).end("ask", "default").build()?;
///
/// let mut text = "Hello, ".to_owned();
/// let mut run = flow.begin().with_journal(MemoryJournal::new("greeting 1"));
/// if let Proceeded::Paused(paused) = run.proceed(&mut text).await? {
///     assert_eq!(paused.to_string(), "paused at greet/ask#1 for the event `name`");
/// }
///
/// run.deliver("name", &"Ada").await?;
/// run.finish(&mut text).await?;
/// assert_eq!(text, "Hello, Ada");
/// # Ok(())
/// # }
/// ```
pub type MemoryJournal = Recorded<()>;

impl MemoryJournal {
    /// Creates an empty record.
    pub fn new(run_id: impl Into<String>) -> Self {
        Self::with_index(run_id.into(), Index::default(), ())
    }
}

/// A journal that looks up recorded outcomes in a list of entries and writes new ones to a [`Log`]
/// before they are used.
pub struct Recorded<L> {
    run_id: String,
    clock: Clock,
    index: Mutex<Index>,
    /// Wakes the steps that wait for an event in this process.
    arrivals: Mutex<HashMap<String, Arc<Notify>>>,
    log: L,
}

impl<L: Log> Recorded<L> {
    /// Creates a journal over recorded entries. New entries are written to `log`.
    ///
    /// # Errors
    ///
    /// Returns an error if an entry cannot follow the entries before it.
    pub fn over(
        run_id: impl Into<String>,
        entries: impl IntoIterator<Item = Entry>,
        log: L,
    ) -> Result<Self, EntryError> {
        let mut index = Index::default();
        for (number, entry) in entries.into_iter().enumerate() {
            index.check(&entry).map_err(|problem| EntryError {
                index: number,
                // The names in it may have any length.
                problem: Escaped::new(&problem).with_max_chars(300).to_string(),
            })?;

            // All of these are stored, so nobody has to wait for their numbers.
            index.add(entry, 0);
        }

        Ok(Self::with_index(run_id.into(), index, log))
    }

    /// Sets the current time. From then on, it advances with tokio's clock. Sleeps and waits are
    /// recorded with this time.
    ///
    /// # Default
    ///
    /// The system time when the journal is created.
    #[must_use]
    pub fn with_time(mut self, now: SystemTime) -> Self {
        self.clock = Clock::at(now);
        self
    }

    /// Begins a run with a state that has this digest, unless it began before. Returns the digest with
    /// which it began or was folded, if that is a different one. [`begin`](Journal::begin) makes an error
    /// of that.
    pub fn begin_with(&self, given: StateDigest) -> Option<StateDigest> {
        // Looked at and added under one lock, so that the run begins once.
        let mut index = self.index();
        let recorded = index.first_state();
        if index.is_new() {
            // Not waited for, because outcomes are: they are written after it.
            self.push_to(&mut index, Entry::Began { state: given });
        }

        recorded.filter(|recorded| *recorded != given)
    }

    /// Returns the schemas of the answers that steps wait for now, with this event; `None` for each step
    /// that has none.
    pub fn schemas(&self, event: &str) -> Vec<Option<Json>> {
        let index = self.index();
        index
            .waits_for(event)
            .map(|schema| schema.cloned())
            .collect()
    }

    /// Returns the steps that wait for an event without an answer, each with its event; none if the run
    /// has failed.
    pub fn waits(&self) -> Vec<(String, String)> {
        let index = self.index();
        let waits = index.waits();
        waits
            .map(|(step, event)| (step.to_owned(), event.to_owned()))
            .collect()
    }

    /// Returns whether steps wait for this event, and all of them have waited as long as they may. An
    /// answer would come too late.
    pub fn has_timed_out(&self, event: &str) -> bool {
        let index = self.index();
        let waiting = index.waiting.iter();
        let waiting = waiting.filter(|(_, (awaited, _))| awaited == event);
        let mut waits = waiting.filter_map(|(step, _)| Some(&index.steps.get(step)?.what));
        let is_over = |wait: &What| matches!(wait, What::Waiting { until: Some(until) } if self.clock.left(*until).is_zero());

        // The steps use an answer that came in time, and one more is for a later wait.
        let is_unanswered =
            index.next_answer(event).is_none() && index.waits_for(event).next().is_some();
        is_unanswered && waits.all(is_over)
    }

    fn with_index(run_id: String, index: Index, log: L) -> Self {
        Self {
            run_id,
            clock: Clock::new(),
            index: Mutex::new(index),
            arrivals: Mutex::default(),
            log,
        }
    }

    /// Returns the log.
    pub fn log(&self) -> &L {
        &self.log
    }

    fn index(&self) -> MutexGuard<'_, Index> {
        // No operation under the lock panics half way.
        self.index.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn arrivals(&self) -> MutexGuard<'_, HashMap<String, Arc<Notify>>> {
        self.arrivals.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns what is notified when an answer to the event arrives.
    fn arrival(&self, event: &str) -> Arc<Notify> {
        let mut arrivals = self.arrivals();
        Arc::clone(arrivals.entry(event.to_owned()).or_default())
    }

    /// Returns what is recorded of a step, once that is stored durably.
    async fn known(&self, step: &str) -> Result<Option<What>, BoxError> {
        // The lock is given back before the `await`, which takes as long as the disk.
        let known = self.index().steps.get(step).cloned();
        let Some(Known { what, line }) = known else {
            return Ok(None);
        };

        // What was on record before this run is stored.
        if line > 0 {
            self.log.written(line).await?;
        }

        Ok(Some(what))
    }

    /// Adds an entry, so that it is found from now on, and waits until it is written.
    async fn record(&self, entry: Entry) -> Result<(), BoxError> {
        let line = self.push(entry)?;
        self.log.written(line).await
    }

    /// Queues an entry. Returns its number.
    fn push(&self, entry: Entry) -> Result<u64, String> {
        let mut index = self.index();

        // Checked before it is pushed, since a record with an invalid entry could not be read
        // again.
        index.check(&entry)?;
        Ok(self.push_to(&mut index, entry))
    }

    fn push_to(&self, index: &mut Index, entry: Entry) -> u64 {
        // Queued under the lock of the index: the log has the entries in the order of their checks.
        let line = self.log.push(entry.clone());
        index.add(entry, line);
        line
    }

    /// Records that a run that had failed continues. Whoever lists it would still find the error
    /// otherwise.
    async fn resume(&self) -> Result<(), BoxError> {
        let has_failed = self.index().has_failed;
        match has_failed {
            true => self.record(Entry::Resumed).await,
            false => Ok(()),
        }
    }

    /// Records that a step waits until then.
    async fn record_wait(
        &self,
        step: &str,
        awaited: Awaited<'_>,
        until: Option<u64>,
    ) -> Result<(), BoxError> {
        self.record(Entry::Waiting {
            step: step.to_owned(),
            event: awaited.event.to_owned(),
            // A reason may quote a whole document, and every list of paused runs reads it.
            why: shortened(awaited.why),
            until,
            schema: awaited.schema.and_then(recorded_schema),
        })
        .await
    }

    /// Records that a step uses an answer, or that it refuses it.
    async fn use_answer(
        &self,
        step: String,
        awaited: Awaited<'_>,
        answer: Json,
    ) -> Result<Waited, BoxError> {
        let event = awaited.event.to_owned();
        // Discarded, because the step would otherwise find the same answer each time.
        if let Err(refusal) = awaited.accept(&answer) {
            let error = shortened(&refusal.to_string());
            self.record(Entry::Refused { event, error }).await?;
            return Err(refusal);
        }

        // Recorded before it is used, so that a replay uses the same answer.
        self.record(Entry::Taken { step, event }).await?;
        Ok(Waited::Answered(answer))
    }
}

#[async_trait]
impl<L: Log + 'static> Journal for Recorded<L> {
    fn run_id(&self) -> &str {
        &self.run_id
    }

    fn begin(&self, state: &Json) -> Result<(), BoxError> {
        // A state that is nested too deeply cannot be compared, and is accepted.
        let recorded = StateDigest::of(state).and_then(|given| self.begin_with(given));
        match recorded {
            Some(_) => Err(another_state(&self.run_id).into()),
            None => Ok(()),
        }
    }

    async fn call(&self, name: &StepName, work: Work<'_>) -> Result<Json, StepError> {
        let step = name.to_string();
        match self.known(&step).await.map_err(StepError::Journal)? {
            Some(What::Outcome(outcome)) => return Ok(outcome),
            Some(_) => return Err(StepError::journal(other_kind(&step))),
            // A call may cost money or change the world, so it isn't made on a different path.
            None => self.index().same_way(&step)?,
        }
        self.resume().await.map_err(StepError::Journal)?;

        // An error returns here and isn't recorded, so the next run tries again.
        let outcome = work.await?;

        let recorded = self.record(Entry::Outcome {
            step,
            outcome: outcome.clone(),
        });
        recorded.await.map_err(StepError::Journal)?;
        Ok(outcome)
    }

    async fn find(&self, name: &StepName) -> Result<Option<Json>, BoxError> {
        let step = name.to_string();
        match self.known(&step).await? {
            Some(What::Outcome(outcome)) => Ok(Some(outcome)),
            _ => {
                self.index().same_way(&step)?;
                Ok(None)
            }
        }
    }

    async fn sleep(&self, step: &StepName, duration: Duration) -> Result<(), BoxError> {
        let name = step.to_string();
        let until = match self.known(&name).await? {
            Some(What::Sleep { until }) => until,
            Some(_) => return Err(other_kind(&name).into()),
            None => {
                self.index().same_way(&name)?;
                // The end and not the duration, so that a resumed run only sleeps for the rest.
                let until = self.clock.after(duration);
                self.record(Entry::Sleep { step: name, until }).await?;

                until
            }
        };

        // Not longer if the clock was set back.
        tokio::time::sleep(self.clock.left(until).min(duration)).await;
        Ok(())
    }

    async fn wait(&self, step: &StepName, awaited: Awaited<'_>) -> Result<Waited, BoxError> {
        let name = step.to_string();
        let until = match self.known(&name).await? {
            Some(What::Answered { answer }) => return Ok(Waited::Replayed(answer)),
            Some(What::TimedOut) => return Ok(Waited::TimedOut),
            // Not later if the clock was set back.
            Some(What::Waiting { until }) => until.map(|until| match awaited.within {
                Some(within) => until.min(self.clock.after(within)),
                None => until,
            }),
            Some(_) => return Err(other_kind(&name).into()),
            None => {
                // Before anything is recorded, so that a changed flow leaves the record as it was.
                self.index().same_way(&name)?;
                let until = awaited.within.map(|within| self.clock.after(within));
                self.record_wait(&name, awaited, until).await?;
                until
            }
        };

        self.resume().await?;
        // Before the answers are looked at, so that none arrives unseen.
        let arrival = awaited.is_live.then(|| self.arrival(awaited.event));

        loop {
            // Bound first: within the condition, the lock would be held during the `await`.
            let answer = self.index().next_answer(awaited.event);
            if let Some(answer) = answer {
                return self.use_answer(name, awaited, answer).await;
            }

            // After the answers, since one that has arrived counts even when the time is over.
            let left = until.map(|until| self.clock.left(until));
            if left.is_some_and(|left| left.is_zero()) {
                self.record(Entry::TimedOut { step: name }).await?;
                return Ok(Waited::TimedOut);
            }

            match (&arrival, left) {
                (None, _) => break,
                (Some(arrival), None) => arrival.notified().await,
                (Some(arrival), Some(left)) => {
                    // The loop finds out which of the two it was.
                    let _ = tokio::time::timeout(left, arrival.notified()).await;
                }
            }
        }

        let until = until.and_then(|until| UNIX_EPOCH.checked_add(Duration::from_millis(until)));
        Ok(Waited::Pending { until })
    }

    async fn deliver(&self, event: &str, answer: Json) -> Result<(), BoxError> {
        let line = self.push(Entry::Answer {
            event: event.to_owned(),
            answer,
        })?;

        // Wakes the step that has waited longest.
        // It needn't wait for this write, since its own entry comes later in the log.
        if let Some(arrival) = self.arrivals().get(event) {
            arrival.notify_one();
        }

        self.log.written(line).await
    }

    fn awaits(&self, event: &str) -> bool {
        self.index().waits_for(event).next().is_some()
    }

    async fn progress(&self, progress: Progress<'_>) -> Result<(), BoxError> {
        match progress {
            // The record of outcomes already shows how far the run is.
            Progress::At { .. } => Ok(()),
            // A replay reaches the end again, or a lower limit than before.
            Progress::Ended { .. } | Progress::Failed { .. } if self.index().ended => Ok(()),
            Progress::Ended { action, steps } => {
                self.record(Entry::Ended {
                    action: action.as_str().to_owned(),
                    steps,
                })
                .await
            }
            // It was resumed too early, and pauses again.
            Progress::Paused if self.index().is_paused => Ok(()),
            Progress::Paused => self.record(Entry::Paused).await,
            Progress::Failed { error } => {
                self.record(Entry::Failed {
                    error: shortened(error),
                })
                .await
            }
        }
    }

    fn snapshot(&self) -> Option<Snapshot> {
        self.index().snapshot.clone()
    }

    async fn fold(&self, snapshot: Snapshot) -> Result<(), BoxError> {
        let line = {
            // Under one lock, so that no entry comes between the decision and the fold.
            let mut index = self.index();
            if !index.is_worth_a_fold(snapshot.number) {
                return Ok(());
            }

            self.log.replace(index.fold(snapshot))
        };
        self.log.written(line).await
    }
}

/// The maximum length of a recorded schema, in bytes.
const MAX_SCHEMA: usize = 64 * 1024;

fn recorded_schema(schema: &Json) -> Option<Json> {
    // A wait can be answered without its schema, so a long one is left out and not refused.
    let is_short = schema.as_str().len() <= MAX_SCHEMA;
    is_short.then(|| schema.clone())
}

fn another_state(run_id: &str) -> String {
    let run_id = Name(run_id);
    format!(
        "the run `{run_id}` began with a different state; expected the state of its first step, or \
         that of its last snapshot"
    )
}

fn other_kind(step: &str) -> String {
    format!("the step `{step}` is recorded as a different kind of step")
}

impl<L> fmt::Debug for Recorded<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorded")
            .field("run_id", &self.run_id)
            .finish_non_exhaustive()
    }
}
