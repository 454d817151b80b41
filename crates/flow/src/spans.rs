//! The `tracing` spans of runs and steps.

use std::fmt::Display;
use std::time::Duration;

use tracing::field::{Empty, display};
use tracing::{Level, Span, debug, error, event_enabled, info, info_span, span_enabled, warn};

use crate::RunError;
use crate::engine::{Operation, StepName};

/// Returns whether a subscriber wants the spans of runs.
pub(crate) fn are_wanted() -> bool {
    span_enabled!(Level::INFO)
}

/// Opens the span of a run inside the current one.
pub(crate) fn of_run(flow: &str, id: Option<&str>) -> Span {
    // Fields that are only known at the end are named here: a span accepts no others later.
    info_span!(
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
    )
}

/// Opens the span of a step inside the current one: that of the run, or of the step around it.
pub(crate) fn of_step(name: &StepName, operation: &Operation) -> Span {
    let flow: Vec<String> = name.within.iter().map(ToString::to_string).collect();
    let node = &name.node;
    let chain = "CHAIN";
    let (shown, operation, agent, kind) = match operation {
        Operation::Step => (node.clone(), None, None, chain),
        Operation::Plan => (format!("plan {node}"), Some("plan"), None, chain),
        Operation::Agent { name } => {
            let shown = format!("invoke_agent {name}");
            (shown, Some("invoke_agent"), Some(name), "AGENT")
        }
    };

    info_span!(
        "step",
        flow = flow.join("/"),
        node,
        number = name.number,
        action = Empty,
        "otel.name" = shown,
        "otel.status_code" = Empty,
        "gen_ai.operation.name" = operation,
        "gen_ai.agent.name" = agent,
        "openinference.span.kind" = kind,
        "error.type" = Empty,
    )
}

/// Records the error of a run or a step. A pause isn't an error.
pub(crate) fn stopped(span: &Span, error: &RunError) {
    if error.paused().is_none() {
        span.record("otel.status_code", "ERROR");
        span.record("error.type", error.kind());
    }
}

/// Records the error of a step, and writes an event if it is the innermost one: the steps around it
/// get the same error with the name of this step.
pub(crate) fn step_stopped(span: &Span, error: &RunError) {
    stopped(span, error);
    if error.step().is_some() {
        return;
    }

    match error.paused() {
        Some(paused) => info!(parent: span, event = paused.event, why = paused.why, "paused"),
        None => error!(parent: span, error = display(error), "failed"),
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
