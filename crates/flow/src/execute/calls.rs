//! The calls inside the `exec` of a composite step, and their requests to the journal.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::oneshot;

use super::failure::Failure;
use super::waiting::Arrived;
use crate::boxed::BoxFuture;
use crate::events::Watch;
use crate::failed::Failed;
use crate::journal::{Make, OutcomeProblem, WorkError};
use crate::step_name::CallName;
use crate::{BoxError, EventKind, Phase, StepName, spans};

/// The calls of a composite step: their names, and their requests to the journal.
pub(crate) struct Calls {
    pub(super) step: Arc<StepName>,
    pub(super) watch: Option<Watch>,
    pub(super) run: Arc<str>,
    pub(super) max_outcome: usize,
    state: Mutex<State>,
}

pub(super) struct State {
    /// The number of the attempt, starting at 1.
    pub(super) attempt: u32,
    /// The number of calls of this attempt with each label.
    pub(super) numbers: HashMap<String, u64>,
    /// The requests that aren't being served yet.
    pub(super) requests: Vec<Request>,
    pub(super) stopped: Option<Stopped>,
}

/// A request from inside `exec`. The journal's answer is sent to `reply`.
pub(super) enum Request {
    Call {
        name: Arc<StepName>,
        work: Requested,
        reply: oneshot::Sender<Vec<u8>>,
    },
    Wait {
        name: Arc<StepName>,
        question: Question,
        reply: oneshot::Sender<Arrived>,
    },
    Failure {
        error: String,
        reply: oneshot::Sender<()>,
    },
}

/// What a call waits for.
pub(crate) struct Question {
    pub(crate) event: String,
    pub(crate) why: String,
    pub(crate) within: Option<Duration>,
    pub(crate) accept: fn(&[u8]) -> Result<(), BoxError>,
}

impl Calls {
    pub(super) fn new(
        step: Arc<StepName>,
        watch: Option<Watch>,
        run: Arc<str>,
        max_outcome: usize,
    ) -> Self {
        Self {
            step,
            watch,
            run,
            max_outcome,
            state: Mutex::new(State {
                attempt: 1,
                numbers: HashMap::new(),
                requests: Vec::new(),
                stopped: None,
            }),
        }
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the idempotency key of the step.
    pub(crate) fn key(&self) -> String {
        self.step.key_in(&self.run)
    }

    /// Returns the step and its watch, if the run is watched.
    pub(crate) fn watched(&self) -> Option<(Arc<StepName>, Watch)> {
        let watch = self.watch.clone()?;
        Some((Arc::clone(&self.step), watch))
    }

    /// Reports that the outcome of a call was read from the journal.
    pub(super) fn replayed(&self, name: Arc<StepName>) {
        spans::replayed(&name);

        if let Some(watch) = &self.watch {
            watch.emit(Some(name), EventKind::Replayed);
        }
    }

    /// Returns the name of an event with that of the step and the number of the attempt.
    pub(crate) fn scoped(&self, event: &str) -> String {
        format!("{event}{}", self.scope())
    }

    pub(super) fn unscoped<'e>(&self, event: &'e str) -> &'e str {
        event.strip_suffix(&self.scope()).unwrap_or(event)
    }

    pub(super) fn scope(&self) -> String {
        let attempt = self.state().attempt;
        format!(" at {}.{attempt}", self.step)
    }

    pub(super) fn failure_name(&self) -> StepName {
        let attempt = self.state().attempt;
        self.step.of_call(CallName::failure(attempt))
    }

    /// Returns the name of the next call with this label.
    ///
    /// Calls are numbered by label, so that calls in concurrent futures keep their names whichever
    /// future is faster.
    pub(super) fn next_name(&self, label: &str) -> Arc<StepName> {
        let mut state = self.state();
        let number = state.numbers.entry(label.to_owned()).or_default();
        *number += 1;

        Arc::new(self.step.of_call(CallName {
            number: *number,
            attempt: state.attempt,
            label: label.to_owned(),
        }))
    }

    pub(super) fn begin_next_attempt(&self) {
        let mut state = self.state();
        state.attempt = state.attempt.saturating_add(1);
        state.numbers.clear();
        state.requests.clear();
        state.stopped = None;
    }

    pub(super) fn request(&self, request: Request) {
        self.state().requests.push(request);
    }

    pub(super) fn stop(&self, stopped: Stopped) {
        self.state().stopped = Some(stopped);
    }
}

/// Why an attempt ends before `exec` has returned.
pub(super) enum Stopped {
    /// The attempt failed.
    Failed(Failed),
    /// The run stops in the middle of the attempt.
    Run(Failure),
}

impl Stopped {
    pub(super) fn unrecordable(problem: OutcomeProblem) -> Self {
        Self::Failed(Failed::new(Phase::Exec, problem))
    }
}

/// The work of a call, which is done inside `exec`. The journal requests it and gets the bytes of
/// the outcome.
pub(super) struct Requested(Mutex<Option<oneshot::Sender<Made>>>);

/// Receives the outcome of the work.
pub(super) type Made = oneshot::Sender<Vec<u8>>;

impl Requested {
    pub(super) fn new(request: oneshot::Sender<Made>) -> Self {
        Self(Mutex::new(Some(request)))
    }

    pub(super) fn was_made(&self) -> bool {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .is_none()
    }

    async fn bytes(&self) -> Result<Vec<u8>, WorkError> {
        let request = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        let gone = || Failed::new(Phase::Exec, "the call was dropped before it had an outcome");

        let (made, outcome) = oneshot::channel();
        if let Some(request) = request {
            request.send(made).map_err(|_| gone())?;
        }

        outcome.await.map_err(|_| gone().into())
    }
}

impl Make for Requested {
    fn make(&self) -> BoxFuture<'_, Result<Vec<u8>, WorkError>> {
        Box::pin(self.bytes())
    }
}
