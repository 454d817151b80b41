//! The `tracing` spans of runs and steps.

use std::fmt::Display;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tracing::field::{Empty, display};
use tracing::{
    Instrument, Level, Span, debug, error, event_enabled, info, info_span, span_enabled, warn,
};

use crate::boxed::BoxFuture;
use crate::{Action, Operation, Phase, RunError, StepName};

/// The span of a run.
#[derive(Debug, Clone)]
pub(crate) struct RunSpan(Arc<OpenRun>);

/// A span of a run that isn't closed yet.
#[derive(Debug)]
struct OpenRun {
    span: Span,
    /// The type of the error with which the run stopped. It is recorded when the span is closed,
    /// because a run that stopped may continue, and nothing can be removed from a span.
    stopped: Mutex<Option<&'static str>>,
}

impl OpenRun {
    fn stop(&self, error: Option<&'static str>) {
        *self.stopped.lock().unwrap_or_else(PoisonError::into_inner) = error;
    }
}

impl Drop for OpenRun {
    fn drop(&mut self) {
        let stopped = self.stopped.lock();

        if let Some(error) = *stopped.unwrap_or_else(PoisonError::into_inner) {
            self.span.record("otel.status_code", "ERROR");
            self.span.record("error.type", error);
        }
    }
}

impl RunSpan {
    /// Opens the span inside the current one. Returns `None` if no subscriber wants it.
    pub(crate) fn open(flow: &str, id: impl FnOnce() -> Option<String>) -> Option<Self> {
        if !span_enabled!(Level::INFO) {
            return None;
        }

        let id = id();
        let span = info_span!(
            "run",
            run = id,
            flow,
            action = Empty,
            steps = Empty,
            "otel.name" = display(format_args!("invoke_workflow {flow}")),
            "otel.status_code" = Empty,
            "gen_ai.operation.name" = "invoke_workflow",
            "gen_ai.workflow.name" = flow,
            "gen_ai.conversation.id" = id,
            "openinference.span.kind" = "CHAIN",
            "error.type" = Empty,
        );

        Some(Self(Arc::new(OpenRun {
            span,
            stopped: Mutex::new(None),
        })))
    }

    /// Runs `walk` inside the span.
    pub(crate) async fn around<T>(self, walk: impl Future<Output = T>) -> T {
        walk.instrument(self.0.span.clone()).await
    }

    pub(crate) fn ended(&self, action: &Action, steps: u64) {
        self.0.span.record("action", action.as_str());
        self.0.span.record("steps", steps);
        self.0.stop(None);
    }

    pub(crate) fn stopped(&self, error: &RunError) {
        let is_error = error.paused().is_none();
        self.0.stop(is_error.then(|| error_type(error)));
    }
}

/// The span of a step.
#[derive(Debug, Clone)]
pub(crate) struct StepSpan(Span);

impl StepSpan {
    /// Opens the span inside the current one: that of the run, or of the step around it.
    pub(crate) fn open(name: &StepName, operation: &Operation) -> Self {
        let flow: Vec<String> = name.within.iter().map(ToString::to_string).collect();
        let shown = Shown::new(&name.node, operation);

        Self(info_span!(
            "step",
            flow = flow.join("/"),
            node = name.node,
            number = name.number,
            action = Empty,
            "otel.name" = shown.name,
            "otel.status_code" = Empty,
            "gen_ai.operation.name" = shown.operation,
            "gen_ai.agent.name" = shown.agent,
            "openinference.span.kind" = shown.kind,
            "error.type" = Empty,
        ))
    }

    /// Makes the visit run inside the span.
    pub(crate) fn around<'a, T: 'a>(&self, visit: BoxFuture<'a, T>) -> BoxFuture<'a, T> {
        Box::pin(visit.instrument(self.0.clone()))
    }

    pub(crate) fn left(&self, action: &Action) {
        self.0.record("action", action.as_str());
    }

    pub(crate) fn stopped(&self, error: &RunError) {
        record_stop(&self.0, error);

        // The steps around this one get the same error with the name of this step.
        let is_innermost = error.step().is_none();
        if !is_innermost {
            return;
        }

        match error.paused() {
            Some(paused) => {
                info!(parent: &self.0, event = paused.event, why = paused.why, "paused");
            }
            None => error!(parent: &self.0, error = display(error), "failed"),
        }
    }
}

/// The fields of an operation.
struct Shown<'a> {
    name: String,
    operation: Option<&'static str>,
    agent: Option<&'a str>,
    kind: &'static str,
}

impl<'a> Shown<'a> {
    fn new(node: &str, operation: &'a Operation) -> Self {
        match operation {
            Operation::Step => Self {
                name: node.to_owned(),
                operation: None,
                agent: None,
                kind: "CHAIN",
            },
            Operation::Plan => Self {
                name: format!("plan {node}"),
                operation: Some("plan"),
                agent: None,
                kind: "CHAIN",
            },
            Operation::Agent { name } => Self {
                name: format!("invoke_agent {name}"),
                operation: Some("invoke_agent"),
                agent: Some(name),
                kind: "AGENT",
            },
        }
    }
}

/// Records the error of a step. A pause isn't an error.
fn record_stop(span: &Span, error: &RunError) {
    if error.paused().is_some() {
        return;
    }

    span.record("otel.status_code", "ERROR");
    span.record("error.type", error_type(error));
}

/// Returns a name of the kind of error, which has few different values.
fn error_type(error: &RunError) -> &'static str {
    match error.phase() {
        Some(Phase::Prep) => return "prep_failed",
        Some(Phase::Exec) => return "exec_failed",
        Some(Phase::Post) => return "post_failed",
        None => {}
    }

    if error.is_panic() {
        "panic"
    } else if error.is_cancelled() {
        "cancelled"
    } else if error.is_deadline() {
        "deadline"
    } else if error.is_step_limit() {
        "step_limit"
    } else if error.is_undeclared_action() {
        "undeclared_action"
    } else if error.is_journal() {
        "journal_failed"
    } else {
        "_OTHER"
    }
}

/// Writes an event of the current step: an attempt failed.
pub(crate) fn retrying(attempts: u32, delay: Duration, error: &dyn Display) {
    warn!(attempts, ?delay, error = display(error), "retrying");
}

/// Writes an event of the current step: an outcome was read from the journal.
pub(crate) fn replayed(name: &StepName) {
    let call = name.call.as_ref().map(display);
    debug!(item = name.item, call, "replayed");
}

/// Returns whether a subscriber wants the notes of nodes.
pub(crate) fn are_notes_wanted() -> bool {
    event_enabled!(Level::DEBUG)
}

/// Writes an event of the current step: a note of the node.
pub(crate) fn noted(text: &str) {
    debug!(text, "noted");
}
