//! An attempt at a visit: what the model replied, and what it cost. It is written while the attempt
//! runs, so that nothing is lost if the attempt fails or is stopped.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use cogwork_typed::ask::{Meter, Try};

use super::attempted::Attempted;
use super::{AgentError, AgentErrorKind};
use crate::state::{Failures, bounded};
use crate::{ToolUse, Visit};

/// An attempt that is running. If it is dropped before it ends, it counts as failed, unless it only
/// waits for a person: then the run pauses, and continues the attempt later.
pub(super) struct Attempt<'v> {
    node: &'v str,
    failures: &'v Failures,
    pub(super) meter: Meter,
    attempted: Mutex<Attempted>,
    /// The number of tool calls that wait for a person.
    waiting: AtomicUsize,
    /// The number of tool calls in progress.
    running: AtomicUsize,
    has_ended: bool,
}

impl<'v> Attempt<'v> {
    pub(super) fn new(node: &'v str, failures: &'v Failures) -> Self {
        Self {
            node,
            failures,
            meter: Meter::default(),
            attempted: Mutex::default(),
            waiting: AtomicUsize::new(0),
            running: AtomicUsize::new(0),
            has_ended: false,
        }
    }

    pub(super) fn keep_tries(&self, tries: &[Try]) {
        let mut attempted = lock(&self.attempted);

        for one in tries {
            let kept = bounded(one, &attempted.tries);
            attempted.tries.push(kept);
        }
    }

    /// Adds a complaint about the last reply, which had seemed usable.
    pub(super) fn complain(&self, complaint: &str) {
        if let Some(last) = lock(&self.attempted).tries.last_mut() {
            last.complaint = Some(complaint.to_owned());
        }
    }

    pub(super) fn keep_tools(&self, tools: impl IntoIterator<Item = ToolUse>) {
        lock(&self.attempted).tools.extend(tools);
    }

    /// Waits for the answer of a person about a tool call.
    pub(super) async fn wait<T>(&self, answer: impl Future<Output = T>) -> T {
        counted(&self.waiting, answer).await
    }

    /// Makes a tool call.
    pub(super) async fn run<T>(&self, call: impl Future<Output = T>) -> T {
        counted(&self.running, call).await
    }

    /// Returns whether the run pauses. It does so once no call is in progress.
    fn is_paused(&self) -> bool {
        let waiting = self.waiting.load(Ordering::Relaxed);
        let running = self.running.load(Ordering::Relaxed);
        waiting > 0 && running == 0
    }

    /// Ends the attempt with success.
    pub(super) fn succeed(mut self) -> Attempted {
        self.has_ended = true;
        self.attempted()
    }

    /// Ends the attempt with an error.
    pub(super) fn fail(mut self, kind: AgentErrorKind) -> AgentError {
        self.has_ended = true;
        let failed = self.visit(kind.without_foreign_text());
        self.failures.push(failed);
        AgentError::new(kind, self.attempted())
    }

    fn attempted(&self) -> Attempted {
        Attempted {
            spent: self.meter.spent(),
            ..lock(&self.attempted).clone()
        }
    }

    fn visit(&self, error: String) -> Visit {
        let attempted = self.attempted();
        Visit {
            node: self.node.to_string(),
            error: Some(error),
            tries: attempted.tries,
            tools: attempted.tools,
            spent: attempted.spent,
            ..Visit::default()
        }
    }
}

impl Drop for Attempt<'_> {
    fn drop(&mut self) {
        if self.has_ended || self.is_paused() {
            return;
        }

        let stopped = self.visit("the visit was stopped before its end".to_owned());
        self.failures.push_stopped(stopped);
    }
}

/// Counts a future until it has returned. One that is dropped stays counted, because it is dropped
/// just before its attempt.
async fn counted<T>(count: &AtomicUsize, future: impl Future<Output = T>) -> T {
    count.fetch_add(1, Ordering::Relaxed);
    let returned = future.await;
    count.fetch_sub(1, Ordering::Relaxed);

    returned
}

/// A panic elsewhere cannot leave a record inconsistent, so a poisoned lock is still usable.
fn lock(attempted: &Mutex<Attempted>) -> MutexGuard<'_, Attempted> {
    attempted.lock().unwrap_or_else(PoisonError::into_inner)
}
