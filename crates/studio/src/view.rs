//! Runs as JSON.

use std::time::{SystemTime, UNIX_EPOCH};

use cogwork_flow::engine::Json;
use cogwork_journal::{RunStatus, RunSummary, WaitSummary};
use cogwork_text::MultiLine;
use serde_json::{Value, json};

use crate::View;
use crate::runner::CANCELLED;
use crate::totals::Totals;

/// Returns a run as a client sees it, with what its events add.
pub(crate) fn run(run: &RunSummary, totals: Option<&Totals>, view: View) -> Value {
    let waits = run.status.waits();
    let waits = (!waits.is_empty()).then(|| waits.iter().map(wait).collect::<Value>());
    let error = match &run.status {
        RunStatus::Failed { error: text } | RunStatus::Damaged { error: text } => error(text, view),
        _ => None,
    };
    let full = totals.filter(|_| view == View::Full);

    json!({
        "id": run.run_id,
        "flow": run.flow,
        "started": seconds(run.started),
        "updated": run.updated.map(seconds),
        "status": run.status.name(),
        "waits": waits,
        "error": error,
        "input": full.and_then(|totals| totals.input.as_deref()),
        "answer": totals.and_then(|totals| totals.answer.as_deref()),
        "totals": full,
        "forked_from": run.fork.as_ref().map(|origin| json!({
            "run": origin.run_id,
            "step": origin.step,
        })),
    })
}

/// The maximum length of the input and the answer of a run in a list, in characters.
const SHOWN: usize = 2_000;

/// Returns a run with the beginnings of its texts.
pub(crate) fn in_list(run: &Value) -> Value {
    let mut run = run.clone();
    for name in ["input", "answer"] {
        if let Some(Value::String(text)) = run.get_mut(name) {
            *text = MultiLine::new(&*text).with_max_chars(SHOWN).to_string();
        }
    }
    run
}

/// Returns an error as a client sees it: it may quote what was said.
pub(crate) fn error(text: &str, view: View) -> Option<&str> {
    (view == View::Full || text.starts_with(CANCELLED)).then_some(text)
}

fn wait(wait: &WaitSummary) -> Value {
    json!({
        "step": wait.step,
        "event": wait.event,
        "why": wait.why,
        "until": wait.until.map(seconds),
        // As a text, because the properties of a `Value` are sorted.
        "schema": wait.schema.as_ref().map(Json::as_str),
    })
}

/// Returns a time in seconds since 1970.
pub(crate) fn seconds(time: SystemTime) -> f64 {
    let since = time.duration_since(UNIX_EPOCH);
    since.map_or(0.0, |since| since.as_secs_f64())
}
