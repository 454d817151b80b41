//! Replays recorded steps in memory.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use async_trait::async_trait;
use cogwork_flow::engine::{
    Awaited, Entry, Journal, Json, MemoryJournal, Snapshot, StepError, StepName, Waited, Work,
};
use cogwork_flow::{BoxError, Flow, Run, RunError, Stepped};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::plan::Source;
use crate::header::Header;
use crate::read::Line;
use crate::{StoreError, StoreErrorKind};

/// A part of a record.
pub(super) struct Replay {
    source: Source,
    /// The input of the run, or the state of its snapshot.
    first: Json,
    entries: Vec<Entry>,
}

/// A run that is replayed, with its state.
pub(super) struct Replayed<'f, S> {
    source: Source,
    run: Run<'f, S>,
    pub(super) state: S,
    has_ended: bool,
    stop: Arc<OnceLock<Stop>>,
}

/// Why a replay stopped, if what is on record isn't enough.
#[derive(Clone, Copy, PartialEq)]
enum Stop {
    /// An outcome isn't on record.
    Missing,
    /// The flow visits a different node than the recorded run.
    OtherPath,
}

impl Replay {
    pub(super) fn new(source: &Source, header: &Header, lines: &[Line]) -> Self {
        let first = match lines.first().map(|line| &line.entry) {
            Some(Entry::Snapshot(snapshot)) => snapshot.state.clone(),
            _ => Json::from_record(header.input.get()),
        };
        Self {
            source: source.clone(),
            first,
            entries: lines.iter().map(|line| line.entry.clone()).collect(),
        }
    }

    /// Begins with the recorded state.
    pub(super) fn begin<S>(self, flow: &Flow<S>) -> Result<Replayed<'_, S>, StoreError>
    where
        S: Serialize + DeserializeOwned + Send + 'static,
    {
        let source = self.source;
        let state = serde_json::from_str(self.first.as_str()).map_err(|problem| {
            let problem = format!(
                "its input isn't a state of the flow, so its state cannot be edited: {problem}"
            );
            source.problem(StoreErrorKind::Value, &problem)
        })?;
        let journal = MemoryJournal::over(source.run_id.as_str(), self.entries, ());
        let journal =
            journal.map_err(|error| source.problem(StoreErrorKind::Damaged, &error.problem))?;

        let stop = Arc::default();
        let on_record = OnRecord {
            journal,
            stop: Arc::clone(&stop),
        };
        Ok(Replayed {
            source,
            run: flow
                .begin()
                // The run may have had a higher limit than the default.
                .with_max_steps(u64::MAX)
                // The state comes from the record, so it needn't be compared with it.
                .with_journal_any_state(on_record),
            state,
            has_ended: false,
            stop,
        })
    }
}

impl<S> Replayed<'_, S> {
    /// Takes steps. All of their outcomes have to be on record.
    pub(super) async fn take(&mut self, steps: u64) -> Result<(), StoreError> {
        for taken in 0..steps {
            if self.has_ended {
                let problem = format!("it ends after {taken} steps");
                return Err(self.source.problem(StoreErrorKind::UnknownStep, &problem));
            }
            let stepped = self.run.step(&mut self.state).await;
            let stepped = stepped.map_err(|error| self.problem(&error))?;
            self.has_ended = matches!(stepped, Stepped::Ended(_));
        }
        Ok(())
    }

    /// Takes another step as far as it is on record.
    pub(super) async fn take_recorded_part(&mut self) -> Result<(), StoreError> {
        if self.has_ended {
            return Ok(());
        }

        match self.run.step(&mut self.state).await {
            Ok(_) => Ok(()),
            // A wait without an answer is where the record ends.
            Err(error) if error.paused().is_some() => Ok(()),
            Err(_) if self.stop.get() == Some(&Stop::Missing) => Ok(()),
            Err(error) => Err(self.problem(&error)),
        }
    }

    fn problem(&self, error: &RunError) -> StoreError {
        let kind = match self.stop.get() {
            Some(Stop::OtherPath) => StoreErrorKind::AnotherFlow,
            _ => StoreErrorKind::Value,
        };
        self.source.problem(kind, error)
    }
}

/// Replays some steps, edits the state after them, and returns a snapshot with it.
pub(super) async fn edited<S>(
    flow: &Flow<S>,
    replay: Replay,
    steps: u64,
    edit: impl FnOnce(&mut S) + Send,
) -> Result<Snapshot, StoreError>
where
    S: Serialize + DeserializeOwned + Send + 'static,
{
    let mut replayed = replay.begin(flow)?;
    replayed.take(steps).await?;
    edit(&mut replayed.state);

    let source = &replayed.source;
    let snapshot = replayed.run.snapshot(&replayed.state);
    let snapshot = snapshot.map_err(|problem| source.problem(StoreErrorKind::Value, &problem))?;
    let snapshot =
        snapshot.ok_or_else(|| source.problem(StoreErrorKind::UnknownStep, &"it has ended"))?;

    // A snapshot that cannot be read back would be of no use.
    let read: Result<S, _> = snapshot.state.read();
    read.map_err(|problem| source.problem(StoreErrorKind::Value, &problem))?;
    Ok(snapshot)
}

/// A journal that returns what is on record, and does no work.
struct OnRecord {
    journal: MemoryJournal,
    stop: Arc<OnceLock<Stop>>,
}

#[async_trait]
impl Journal for OnRecord {
    fn run_id(&self) -> &str {
        self.journal.run_id()
    }

    async fn call(&self, name: &StepName, _work: Work<'_>) -> Result<Json, StepError> {
        if let Some(outcome) = self.find(name).await.map_err(StepError::Journal)? {
            return Ok(outcome);
        }

        self.stop.get_or_init(|| Stop::Missing);
        Err(StepError::journal(format!(
            "no outcome of the step `{name}` is on record"
        )))
    }

    async fn find(&self, name: &StepName) -> Result<Option<Json>, BoxError> {
        let found = self.journal.find(name).await;
        if found.is_err() {
            self.stop.get_or_init(|| Stop::OtherPath);
        }
        found
    }

    /// The time has passed, because steps after it are on record.
    async fn sleep(&self, _step: &StepName, _duration: Duration) -> Result<(), BoxError> {
        Ok(())
    }

    async fn wait(&self, step: &StepName, awaited: Awaited<'_>) -> Result<Waited, BoxError> {
        self.journal.wait(step, awaited).await
    }

    async fn deliver(&self, event: &str, answer: Json) -> Result<(), BoxError> {
        self.journal.deliver(event, answer).await
    }

    fn snapshot(&self) -> Option<Snapshot> {
        self.journal.snapshot()
    }
}
