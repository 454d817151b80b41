//! The result of a run as JSON, and warnings about it.

use std::collections::BTreeSet;
use std::time::UNIX_EPOCH;

use cogwork_agents::{FileFlow, FlowState, Output};
use cogwork_flow::{BoxError, Ended, Paused};
use cogwork_text::Name;
use serde_json::{Value, json};

use super::record::Hint;
use crate::output::tell;

/// The result of a run: the answer and the end, or the error.
pub(super) type Result<T = (Output, Ended)> = std::result::Result<T, BoxError>;

/// Returns everything about a run, without values from the environment.
pub(super) fn of(
    loaded: &FileFlow,
    state: &FlowState,
    hint: &Hint<'_>,
    ended: &Result,
    paused: Option<&Paused>,
) -> Value {
    let mut result = match (ended, paused) {
        (Ok((answer, ended)), _) => json!({
            "answer": answer.text,
            "action": ended.action,
            "steps": ended.steps,
            "state": state,
        }),
        (Err(_), Some(paused)) => json!({"paused": waits(paused), "state": state}),
        (Err(error), None) => json!({"error": error.to_string(), "state": state}),
    };

    // With those of failed visits.
    if let Some(saved) = result.get_mut("state").and_then(Value::as_object_mut) {
        saved.insert("calls".to_owned(), state.calls().into());
        saved.insert("usage".to_owned(), json!(state.usage()));
    }
    if let (Some(run_id), Some(entries)) = (hint.run_id(), result.as_object_mut()) {
        entries.insert("run".to_owned(), run_id.into());
    }

    hide(&mut result, loaded);
    result
}

/// Returns all events that a run waits for.
pub(super) fn waits(paused: &Paused) -> Value {
    let all = [paused].into_iter().chain(&paused.also);

    all.map(|pause| {
        let until = pause
            .until
            .and_then(|until| until.duration_since(UNIX_EPOCH).ok());
        json!({
            "event": pause.event,
            "reason": pause.why,
            "step": pause.step.to_string(),
            "until": until.map(|until| until.as_secs_f64()),
        })
    })
    .collect()
}

/// Hides values from the environment in all texts.
pub(super) fn hide(value: &mut Value, loaded: &FileFlow) {
    match value {
        Value::String(text) => *text = loaded.hide_secrets(text),
        Value::Array(items) => items.iter_mut().for_each(|item| hide(item, loaded)),
        Value::Object(entries) => entries.values_mut().for_each(|entry| hide(entry, loaded)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Prints warnings about problems that didn't end the run but affect its answer.
pub(super) fn warn(loaded: &FileFlow, state: &FlowState) {
    for (node, said) in state.outputs() {
        let node = Name(node);

        if said.truncated {
            tell(format_args!(
                "cogwork: the output of `{node}` is cut off, by the token limit or a filter"
            ));
        }

        if let Some(reason) = &said.cut_short {
            let reason = loaded.hide_secrets(reason);
            tell(format_args!(
                "cogwork: the answer of `{node}` is not complete: {reason}"
            ));
        }

        let failures = said
            .thinking
            .iter()
            .flat_map(|report| &report.memory_failures);

        // A memory that cannot be opened fails for every search and every addition.
        for failure in failures.collect::<BTreeSet<_>>() {
            let failure = loaded.hide_secrets(failure);
            tell(format_args!(
                "cogwork: `{node}` went without its memory: {failure}"
            ));
        }
    }
}
