//! Replays recorded steps in memory.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use cogwork_flow::journal::{
    Awaited, Entry, Journal, Json, MemoryJournal, Snapshot, StepError, Waited, Work,
};
use cogwork_flow::{BoxError, Flow, Run, StepName, Stepped};
use cogwork_text::Name;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::cut::step;
use super::step::{OtherVisit, other_visit};
use crate::StoreError;
use crate::error::Kind;

/// A part of a record.
pub(super) struct Replay {
    /// The location of the run, for messages.
    pub(super) place: String,
    pub(super) run_id: String,
    /// The input of the run, or the state of its snapshot.
    pub(super) first: Json,
    pub(super) entries: Vec<Entry>,
    /// How many steps to take. All of their outcomes have to be on record.
    pub(super) steps: u64,
}

/// A run that was replayed, with its state.
pub(super) struct Replayed<'f, S> {
    pub(super) run: Run<'f, S>,
    pub(super) state: S,
    has_ended: bool,
    stops: Arc<Stops>,
}

/// Why a replay stopped, if what is on record isn't enough.
#[derive(Default)]
struct Stops {
    /// An outcome isn't on record.
    is_missing: AtomicBool,
    /// The flow visits a different node than the recorded run.
    is_other_path: AtomicBool,
}

impl Replay {
    /// Takes the steps, beginning with the recorded state.
    pub(super) async fn take<S>(self, flow: &Flow<S>) -> Result<Replayed<'_, S>, StoreError>
    where
        S: Serialize + DeserializeOwned + Send + 'static,
    {
        let state = self.first_state()?;
        let journal = MemoryJournal::over(self.run_id.as_str(), self.entries.clone(), ());
        let journal = journal.map_err(|error| self.failed(Kind::Damaged, &error.problem))?;
        let stops = Arc::new(Stops::default());
        let steps = self.entries.iter().filter_map(step);
        let on_record = OnRecord {
            journal,
            steps: steps.map(str::to_owned).collect(),
            stops: Arc::clone(&stops),
        };

        let run = flow.begin().with_max_steps(u64::MAX);
        let mut replayed = Replayed {
            run: run.with_journal(on_record),
            state,
            has_ended: false,
            stops,
        };

        for taken in 0..self.steps {
            if replayed.has_ended {
                let problem = format!("it ends after {taken} steps");
                return Err(self.failed(Kind::UnknownStep, &problem));
            }
            let stepped = replayed.run.step(&mut replayed.state).await;
            let stepped = stepped.map_err(|error| {
                let kind = replayed.stops.kind().unwrap_or(Kind::Other);
                self.failed(kind, &error)
            })?;
            replayed.has_ended = matches!(stepped, Stepped::Ended(_));
        }
        Ok(replayed)
    }

    fn first_state<S: DeserializeOwned>(&self) -> Result<S, StoreError> {
        serde_json::from_str(self.first.as_str()).map_err(|problem| {
            let place = &self.place;
            let run_id = Name(&self.run_id);
            let text = format_args!(
                "{place}: the input of the run `{run_id}` isn't a state of the flow, so its state \
                 cannot be edited: {problem}"
            );
            StoreError::new(Kind::Value, text)
        })
    }

    fn failed(&self, kind: Kind, problem: &dyn std::fmt::Display) -> StoreError {
        failed(&self.place, &self.run_id, kind, problem)
    }
}

/// Returns the error of a run that cannot be replayed.
pub(super) fn failed(
    place: &str,
    run_id: &str,
    kind: Kind,
    problem: &dyn std::fmt::Display,
) -> StoreError {
    let run_id = Name(run_id);
    let text = format_args!("{place}: the run `{run_id}` cannot be replayed: {problem}");
    StoreError::new(kind, text)
}

impl<S> Replayed<'_, S> {
    /// Takes another step as far as it is on record.
    ///
    /// # Errors
    ///
    /// Returns the problem if the flow cannot use what is on record.
    pub(super) async fn take_recorded_part(&mut self) -> Result<(), PartProblem> {
        if self.has_ended {
            return Ok(());
        }

        let stepped = self.run.step(&mut self.state).await;
        let Err(error) = stepped else {
            return Ok(());
        };
        let is_missing = self.stops.is_missing.load(Ordering::Relaxed);
        if error.paused().is_some() || is_missing {
            return Ok(());
        }
        Err(PartProblem {
            kind: self.stops.kind().unwrap_or(Kind::Value),
            text: error.to_string(),
        })
    }
}

/// Why a step cannot be replayed.
pub(super) struct PartProblem {
    pub(super) kind: Kind,
    pub(super) text: String,
}

impl Stops {
    fn kind(&self) -> Option<Kind> {
        let is_other_path = self.is_other_path.load(Ordering::Relaxed);
        is_other_path.then_some(Kind::AnotherFlow)
    }
}

/// A journal that returns what is on record, and does no work.
struct OnRecord {
    journal: MemoryJournal,
    /// The names of the steps on record.
    steps: Vec<String>,
    stops: Arc<Stops>,
}

impl OnRecord {
    fn missing(&self, step: &StepName) -> BoxError {
        let step = step.to_string();
        let mut recorded = self.steps.iter();
        let other = recorded.find_map(|recorded| other_visit(&step, recorded));
        if let Some(other) = other {
            self.stops.is_other_path.store(true, Ordering::Relaxed);
            return another_path(other).into();
        }

        self.stops.is_missing.store(true, Ordering::Relaxed);
        format!("no outcome of the step `{step}` is on record").into()
    }
}

fn another_path(other: OtherVisit<'_>) -> String {
    let OtherVisit {
        visited,
        recorded,
        number,
    } = other;
    format!(
        "the flow visits `{visited}`, but the recorded run visited `{recorded}`; use a flow with \
         the same path, or fork the run at step {number} or before"
    )
}

#[async_trait]
impl Journal for OnRecord {
    fn run_id(&self) -> &str {
        self.journal.run_id()
    }

    fn begin(&self, state: &Json) -> Result<(), BoxError> {
        self.journal.begin(state)
    }

    async fn call(&self, name: &StepName, _work: Work<'_>) -> Result<Json, StepError> {
        let found = self.journal.find(name).await.map_err(StepError::Journal)?;
        found.ok_or_else(|| StepError::Journal(self.missing(name)))
    }

    async fn find(&self, name: &StepName) -> Result<Option<Json>, BoxError> {
        self.journal.find(name).await
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

    fn awaits(&self, event: &str) -> bool {
        self.journal.awaits(event)
    }

    fn snapshot(&self) -> Option<Snapshot> {
        self.journal.snapshot()
    }
}
