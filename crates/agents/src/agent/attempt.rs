//! An attempt at a visit: what the model replied, and what it cost. It is written while the attempt
//! runs, so that nothing is lost if the attempt fails or is stopped.

use std::sync::{Mutex, MutexGuard, PoisonError};

use cogwork_tools::Tools;
use cogwork_typed::ask::{Meter, Spent, ToolCalls, Try};

use super::{AgentError, AgentErrorKind};
use crate::Visit;
use crate::state::{Failures, bounded};
use cogwork_typed::ask::ToolUse;

/// An attempt that is running. If it is dropped before it ends, it counts as failed, unless it only
/// waits for a person: then the run pauses, and continues the attempt later.
pub(super) struct Attempt<'v> {
    failures: &'v Failures,
    pub(super) meter: Meter,
    pub(super) calls: ToolCalls<'v>,
    visit: Mutex<Visit>,
    has_ended: bool,
}

impl<'v> Attempt<'v> {
    pub(super) fn new(node: &str, tools: &'v Tools, failures: &'v Failures) -> Self {
        Self {
            failures,
            meter: Meter::default(),
            calls: ToolCalls::new(tools, "the agent"),
            visit: Mutex::new(Visit::of(node, Spent::default())),
            has_ended: false,
        }
    }

    pub(super) fn keep_reply(&self, reply: &str) {
        let mut visit = self.lock();
        let one = Try {
            reply: reply.to_owned(),
            complaint: None,
        };
        let kept = bounded(one, &visit.tries);
        visit.tries.push(kept);
    }

    /// Adds a complaint about the last reply.
    pub(super) fn complain(&self, complaint: &str) {
        if let Some(last) = self.lock().tries.last_mut() {
            last.complaint = Some(complaint.to_owned());
        }
    }

    pub(super) fn keep_tools(&self, tools: impl IntoIterator<Item = ToolUse>) {
        self.lock().tools.extend(tools);
    }

    /// Ends the attempt with success.
    pub(super) fn succeed(mut self) -> Visit {
        self.has_ended = true;
        self.visit()
    }

    /// Ends the attempt with an error.
    pub(super) fn fail(mut self, kind: AgentErrorKind) -> AgentError {
        self.has_ended = true;
        let visit = self.keep_failure(kind.to_string());
        AgentError::new(kind, visit)
    }

    fn keep_failure(&self, error: String) -> Visit {
        let visit = Visit {
            error: Some(error),
            ..self.visit()
        };
        self.failures.push(visit.clone());
        visit
    }

    fn visit(&self) -> Visit {
        Visit {
            spent: self.meter.spent(),
            ..self.lock().clone()
        }
    }

    /// A panic elsewhere cannot leave a visit inconsistent, so a poisoned lock is still usable.
    fn lock(&self) -> MutexGuard<'_, Visit> {
        self.visit.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Attempt<'_> {
    fn drop(&mut self) {
        if !self.has_ended && !self.calls.are_waiting() {
            self.keep_failure("the visit was stopped before its end".to_owned());
        }
    }
}
