//! Steps with names, for runs that are watched, have a journal, or wait for events.

use std::sync::Arc;

use tokio::time::Instant;
use tracing::Span;

use super::cursor::Cursor;
use super::failure::Failure;
use super::recorder::Calls;
use crate::current::Current;
use crate::engine::{Journal, Json, Level, Operation, Progress, StepName};
use crate::events::Watch;
use crate::nodes::Phase;
use crate::watch::EventKind;
use crate::wiring::Place;
use crate::{Action, RunError, spans};

/// What few runs have: observers, a journal, and settings of it.
#[derive(Clone, Default)]
pub(crate) struct Attached {
    pub(crate) watch: Option<Watch>,
    pub(crate) journal: Option<Arc<dyn Journal>>,
    /// Stores answers for a run without a journal.
    pub(crate) answers: Option<Arc<dyn Journal>>,
    /// The maximum size of an outcome, in bytes of JSON.
    pub(crate) max_outcome: Option<usize>,
    /// Whether the run stays at its waits.
    pub(crate) is_live: bool,
    /// Whether the steps have `tracing` spans.
    pub(crate) is_traced: bool,
}

impl Attached {
    /// Returns the journal that keeps answers until they are used; `None` if no node waits for
    /// events.
    pub(crate) fn keeper(&self) -> Option<&dyn Journal> {
        self.journal.as_deref().or(self.answers.as_deref())
    }

    /// Returns the maximum size of an outcome. By default, it is 16 MiB.
    pub(crate) fn max_outcome(&self) -> usize {
        self.max_outcome.unwrap_or(16 << 20)
    }

    /// Returns the named step at the place of the cursor. `around` is the path to the flow if that
    /// is inside a visit.
    ///
    /// Boxed, so that the future of a step in a run without names holds a single word for it.
    pub(crate) fn step(
        self: &Arc<Self>,
        cursor: &Cursor<'_>,
        around: Option<&[Level]>,
        place: &Place,
    ) -> Box<NamedStep> {
        let flows = cursor.flow_path().into_iter();
        let flows = flows.map(|name| Level { name, part: None });
        let within = match around {
            None => flows.collect(),
            // The place is more specific than the name of the flow in it.
            Some(around) => around.iter().cloned().chain(flows.skip(1)).collect(),
        };

        let name = StepName {
            within,
            node: place.name.clone(),
            // Counted within its flow: the number must not depend on how fast other items are.
            number: cursor.steps().saturating_add(1),
            item: None,
            call: None,
        };

        Box::new(NamedStep {
            name: Arc::new(name),
            is_inside: around.is_some(),
            attached: Arc::clone(self),
        })
    }
}

/// A step, or an item or a call of it.
#[derive(Clone)]
pub(crate) struct NamedStep {
    pub(crate) name: Arc<StepName>,
    /// Whether the step is inside an item or a branch.
    pub(crate) is_inside: bool,
    pub(crate) attached: Arc<Attached>,
}

impl NamedStep {
    pub(crate) fn journal(&self) -> Option<&Arc<dyn Journal>> {
        self.attached.journal.as_ref()
    }

    /// Returns an item or a call of the step.
    pub(crate) fn named(&self, name: StepName) -> Self {
        Self {
            name: Arc::new(name),
            ..self.clone()
        }
    }

    /// Returns whether anyone wants events of the step, or its texts while they grow.
    pub(crate) fn is_watched(&self, is_growth: bool) -> bool {
        let watch = self.attached.watch.as_ref();
        watch.is_some_and(|watch| watch.is_wanted(is_growth))
    }

    pub(crate) fn emit(&self, kind: impl FnOnce() -> EventKind) {
        self.emit_if_wanted(false, kind);
    }

    /// Emits an event, or a piece of a text that grows, to those who want it.
    pub(crate) fn emit_if_wanted(&self, is_growth: bool, kind: impl FnOnce() -> EventKind) {
        if let Some(watch) = &self.attached.watch
            && watch.is_wanted(is_growth)
        {
            // Made only now: most kinds contain texts, which would be copied for nobody.
            watch.emit(Some(Arc::clone(&self.name)), is_growth, kind());
        }
    }

    /// Opens the span of the step, if the run has one.
    pub(crate) fn span(&self, operation: impl FnOnce() -> Operation) -> Option<Span> {
        let is_traced = self.attached.is_traced;
        is_traced.then(|| spans::of_step(&self.name, &operation()))
    }

    /// Reports that an outcome was read from the journal.
    pub(crate) fn replayed(&self) {
        spans::replayed(&self.name);
        self.emit(|| EventKind::Replayed);
    }

    /// Reports the outcome of `exec`, or an answer, to people who watch the run.
    pub(crate) fn returned(&self, outcome: &Json) {
        // Nodes that only change the state have this outcome, which says nothing.
        if outcome.as_str() != "null" {
            self.emit(|| EventKind::Outcome {
                outcome: outcome.clone(),
            });
        }
    }

    /// Runs a phase other than `exec` and reports its duration.
    pub(crate) fn phase<T>(&self, phase: Phase, work: impl FnOnce() -> T) -> T {
        let started = self.started();
        // `prep` and `post` can only use the current step to report something.
        let done = if self.attached.watch.is_some() || self.attached.is_traced {
            let current = Current {
                is_exec: false,
                ..self.current(None)
            };
            current.during_phase(work)
        } else {
            work()
        };
        self.finished(phase, started);

        done
    }

    /// Runs `exec` and reports its duration. While it is polled, this is the current step.
    pub(crate) async fn exec<F: Future + Unpin>(
        &self,
        calls: Option<&Arc<Calls>>,
        work: F,
    ) -> F::Output {
        let started = self.started();
        let done = self.current(calls).during(work).await;
        self.finished(Phase::Exec, started);

        done
    }

    /// Returns this step for the code that is polled in it.
    pub(crate) fn current(&self, calls: Option<&Arc<Calls>>) -> Current {
        Current {
            step: self.clone(),
            is_exec: true,
            calls: calls.cloned(),
        }
    }

    /// The clock is only read if the run is watched.
    fn started(&self) -> Option<Instant> {
        self.attached.watch.as_ref().map(|_| Instant::now())
    }

    fn finished(&self, phase: Phase, started: Option<Instant>) {
        if let Some(started) = started {
            self.emit(|| EventKind::PhaseFinished {
                phase,
                took: started.elapsed(),
            });
        }
    }

    /// Reports that the step is complete and that the cursor has followed `action`. `steps` is the
    /// number of steps of the whole run.
    pub(crate) async fn moved(
        &self,
        cursor: &Cursor<'_>,
        action: &Action,
        steps: u64,
    ) -> Result<(), RunError> {
        let next = cursor.place();
        self.emit(|| match next {
            Some(next) => EventKind::Moved {
                action: action.clone(),
                to: next.name.clone(),
            },
            None => EventKind::Ended {
                action: action.clone(),
                steps,
            },
        });

        // The journal has the progress of the outermost flow alone.
        if self.is_inside {
            return Ok(());
        }

        let Some(journal) = self.journal() else {
            return Ok(());
        };

        let progress = match next {
            Some(next) => Progress::At {
                node: &next.name,
                steps,
            },
            None => Progress::Ended { action, steps },
        };

        journal.progress(progress).await.map_err(|error| {
            let mut location = cursor.location();
            if next.is_none() {
                // After the end, the cursor is at no node.
                location.node.clone_from(&self.name.node);
            }

            RunError::new(location, Failure::Journal(error))
        })
    }
}
