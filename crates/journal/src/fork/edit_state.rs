//! Edits the state before a step.

use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use cogwork_flow::journal::{
    Awaited, Entry, Journal, Json, MemoryJournal, Snapshot, StepError, Waited, Work,
};
use cogwork_flow::{BoxError, Flow, StepName, Stepped};
use cogwork_text::Name;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::StoreError;
use crate::error::Kind;

/// The steps to replay, which are all on record.
pub(super) struct Replay {
    /// The location of the run, for messages.
    pub(super) place: String,
    pub(super) run_id: String,
    /// The input of the run, or the state of its snapshot.
    pub(super) first: Json,
    pub(super) entries: Vec<Entry>,
    /// How many steps to take.
    pub(super) steps: u64,
}

/// An edit of the state after some steps.
#[async_trait]
pub(super) trait EditState<S>: Send {
    /// Replays the steps and edits the state.
    async fn snapshot(
        self: Box<Self>,
        flow: &Flow<S>,
        replay: Replay,
    ) -> Result<Snapshot, StoreError>;
}

pub(super) struct ChangeState<S, F> {
    /// The first state, if it isn't the input.
    pub(super) first: Option<S>,
    pub(super) edit: F,
}

#[async_trait]
impl<S, F> EditState<S> for ChangeState<S, F>
where
    S: Serialize + DeserializeOwned + Send + 'static,
    F: FnOnce(&mut S) + Send,
{
    async fn snapshot(
        self: Box<Self>,
        flow: &Flow<S>,
        replay: Replay,
    ) -> Result<Snapshot, StoreError> {
        let ChangeState { first, edit } = *self;
        let mut state = match first {
            Some(first) => first,
            None => replay.first_state()?,
        };

        let run_id = Name(&replay.run_id);
        let place = &replay.place;
        let failed = |kind, problem: &dyn std::fmt::Display| {
            let text = format_args!("{place}: the run `{run_id}` cannot be replayed: {problem}");
            StoreError::new(kind, text)
        };

        let journal = MemoryJournal::over(replay.run_id.as_str(), replay.entries, ());
        let journal = journal.map_err(|error| failed(Kind::Damaged, &error.problem))?;
        let mut run = flow
            .begin()
            .with_max_steps(u64::MAX)
            .with_journal(OnRecord(journal));

        for taken in 0..replay.steps {
            let stepped = run.step(&mut state).await;
            let stepped = stepped.map_err(|error| failed(Kind::Other, &error))?;
            if let Stepped::Ended(_) = stepped {
                let problem = format!("it ends after {} steps", taken + 1);
                return Err(failed(Kind::UnknownStep, &problem));
            }
        }

        edit(&mut state);
        let snapshot = run.snapshot(&state);
        let snapshot = snapshot.map_err(|problem| failed(Kind::Value, &problem))?;
        let snapshot = snapshot.ok_or_else(|| failed(Kind::UnknownStep, &"it has ended"))?;

        // A snapshot that cannot be read back would be of no use.
        let read: Result<S, _> = snapshot.state.read();
        read.map_err(|problem| failed(Kind::Value, &problem))?;
        Ok(snapshot)
    }
}

impl Replay {
    fn first_state<S: DeserializeOwned>(&self) -> Result<S, StoreError> {
        serde_json::from_str(self.first.as_str()).map_err(|problem| {
            let place = &self.place;
            let run_id = Name(&self.run_id);
            let text = format_args!(
                "{place}: the input of the run `{run_id}` isn't a state of the flow, so its state \
                 cannot be edited without the first one; use `Fork::with_state_after`: {problem}"
            );
            StoreError::new(Kind::Value, text)
        })
    }
}

/// A journal that returns what is on record, and does no work.
struct OnRecord(MemoryJournal);

impl OnRecord {
    fn missing(step: &StepName) -> BoxError {
        format!("no outcome of the step `{step}` is on record").into()
    }
}

#[async_trait]
impl Journal for OnRecord {
    fn run_id(&self) -> &str {
        self.0.run_id()
    }

    fn begin(&self, state: cogwork_flow::journal::FirstState<'_>) -> Result<(), BoxError> {
        self.0.begin(state)
    }

    async fn step(&self, step: &StepName, _work: Work<'_>) -> Result<Vec<u8>, StepError> {
        let found = self.0.find(step).await.map_err(StepError::journal)?;
        found.ok_or_else(|| StepError::journal(Self::missing(step)))
    }

    fn loaded(&self, step: &StepName) -> Option<Json> {
        self.0.loaded(step)
    }

    async fn find(&self, step: &StepName) -> Result<Option<Vec<u8>>, BoxError> {
        self.0.find(step).await
    }

    /// The steps after it are on record, so the time has passed.
    async fn sleep(&self, _step: &StepName, _duration: Duration) -> Result<(), BoxError> {
        Ok(())
    }

    async fn wait(&self, step: &StepName, awaited: Awaited<'_>) -> Result<Waited, BoxError> {
        self.0.wait(step, awaited).await
    }

    async fn deliver(&self, event: &str, answer: Vec<u8>) -> Result<(), BoxError> {
        self.0.deliver(event, answer).await
    }

    fn now(&self) -> SystemTime {
        self.0.now()
    }

    fn awaits(&self, event: &str) -> bool {
        self.0.awaits(event)
    }

    fn snapshot(&self) -> Option<Snapshot> {
        self.0.snapshot()
    }
}
