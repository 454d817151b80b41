//! Reports of a run as a whole: its events and its record.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::Serialize;

use super::Run;
use crate::RunError;
use crate::draw::FlowGraph;
use crate::engine::{Journal, Json, OutcomeProblem, Progress, Snapshot};
use crate::events::Watch;
use crate::execute::failure::Failure;
use crate::watch::EventKind;

impl<S> Run<'_, S> {
    /// Starts to send events, once, and checks that the journal belongs to this flow.
    pub(super) fn begin_watching(&mut self) -> Result<(), RunError> {
        let extra = self.extra();
        // `with_journal` returns no error, so the first step does.
        if let Some(problem) = extra.misplaced.clone() {
            return Err(self.error(Failure::Journal(problem.into())));
        }

        let id = extra.id.clone();
        // Taken, so that a run that continues doesn't start its events again.
        if let Some(sink) = extra.sink.take() {
            let flow = FlowGraph::of(&self.flow.wiring);
            let attached = self.attached();
            let run = id.unwrap_or_else(|| default_id(attached.journal.as_deref()));
            attached.watch = Some(Watch::start(run, &sink, &flow));
        }

        Ok(())
    }

    /// Lets the journal check the first state, until it accepts one. Nothing is recorded of a run that
    /// is refused.
    pub(super) fn check_state(&mut self, state: &S) -> Result<(), RunError> {
        if let Some(write) = self.extra().first_state
            && let Some(journal) = self.journal()
            // A state that cannot be written as JSON has no digest to compare.
            && let Ok(json) = write(state)
            && let Err(problem) = journal.begin(&json)
        {
            return Err(self.error(Failure::AnotherState(problem)));
        }

        self.extra().first_state = None;
        Ok(())
    }

    /// Reports that the run stopped.
    pub(super) async fn stopped(&self, error: RunError) -> RunError {
        let Some(attached) = self.context.attached.as_deref() else {
            return error;
        };

        if let Some(watch) = &attached.watch {
            self.emit_stop(watch, &error);
        }

        if let Some(journal) = &attached.journal {
            let line = error.to_string();
            let progress = match error.paused() {
                // The waits are on record, but not that nothing else is done.
                Some(_) => Progress::Paused,
                None => Progress::Failed { error: &line },
            };

            // The error that is returned matters more than an error of reporting it.
            let _ = journal.progress(progress).await;
        }

        error
    }

    fn emit_stop(&self, watch: &Watch, error: &RunError) {
        if let Some(paused) = error.paused() {
            watch.emit(None, false, EventKind::Paused(paused.clone()));
            return;
        }

        // If the run was stopped from outside, the step is the one that was interrupted.
        let step = error.step().cloned().or_else(|| {
            let attached = self.context.attached.as_ref()?;
            let place = self.cursor.place()?;
            Some(attached.step(&self.cursor, None, place).name)
        });

        watch.emit(
            step,
            false,
            EventKind::Failed {
                error: error.to_string(),
            },
        );
    }

    /// Returns the id of the run, if it was given one or has a journal.
    pub(super) fn id(&self) -> Option<&str> {
        let given = self.extra.as_ref().and_then(|extra| extra.id.as_deref());
        given.or_else(|| self.journal().map(Journal::run_id))
    }

    fn journal(&self) -> Option<&dyn Journal> {
        self.context.attached.as_ref()?.journal.as_deref()
    }

    /// Returns a snapshot of the run between two steps, with this state. A run that begins with it
    /// continues here. Returns `None` after the end.
    ///
    /// # Errors
    ///
    /// Returns an error if the state cannot be written as JSON.
    pub fn snapshot(&self, state: &S) -> Result<Option<Snapshot>, OutcomeProblem>
    where
        S: Serialize,
    {
        if self.cursor.place().is_none() {
            return Ok(None);
        }

        Json::of(state).map(|state| Some(self.snapshot_with(state)))
    }

    fn snapshot_with(&self, state: Json) -> Snapshot {
        let node = self.cursor.names().cloned().collect();
        Snapshot {
            node,
            number: self.cursor.steps(),
            steps: self.steps(),
            state,
        }
    }

    /// Replaces the record so far with a snapshot.
    pub(super) async fn fold(&self, state: Result<Json, OutcomeProblem>) -> Result<(), RunError> {
        let Some(journal) = self.journal() else {
            return Ok(());
        };

        let failed = |error| self.error(Failure::Journal(error));
        let state = state.map_err(|problem| {
            failed(
                format!(
                    "the state cannot be written as a snapshot: {}",
                    problem.detail()
                )
                .into(),
            )
        })?;
        let snapshot = self.snapshot_with(state);
        journal.fold(snapshot).await.map_err(failed)
    }
}

/// Returns the id of a run without an explicit one.
fn default_id(journal: Option<&dyn Journal>) -> Arc<str> {
    static RUNS: AtomicU64 = AtomicU64::new(0);

    match journal {
        Some(journal) => journal.run_id().into(),
        None => format!("run {}", RUNS.fetch_add(1, Ordering::Relaxed) + 1).into(),
    }
}
