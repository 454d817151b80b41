//! Runs as JSON.

use std::time::{SystemTime, UNIX_EPOCH};

use cogwork_flow::journal::Json;
use cogwork_journal::{RunStatus, RunSummary, WaitSummary};
use serde_json::{Value, json};

/// Returns a run without its waits in full.
pub(crate) fn run(run: &RunSummary) -> Value {
    let mut view = json!({
        "id": run.run_id,
        "flow": run.flow,
        "started": seconds(run.started),
        "updated": run.updated.map(seconds),
        "entries": run.entries,
        "status": status(&run.status),
        "forked_from": run.fork.as_ref().map(|origin| json!({
            "run": origin.run_id,
            "step": origin.step,
        })),
    });

    let entries = view.as_object_mut();
    if let (Some(entries), Some((name, value))) = (entries, detail(&run.status)) {
        entries.insert(name.to_owned(), value);
    }
    view
}

/// Returns the name of a status.
pub(crate) fn status(status: &RunStatus) -> &'static str {
    match status {
        RunStatus::Open => "open",
        RunStatus::Paused { .. } => "paused",
        RunStatus::Failed { .. } => "failed",
        RunStatus::Ended { .. } => "ended",
        RunStatus::Damaged { .. } => "damaged",
        _ => "unknown",
    }
}

fn detail(status: &RunStatus) -> Option<(&'static str, Value)> {
    match status {
        RunStatus::Paused { waits } => Some(("waits", waits.iter().map(wait).collect())),
        RunStatus::Failed { error } | RunStatus::Damaged { error } => {
            Some(("error", error.as_str().into()))
        }
        RunStatus::Ended { action, steps } => {
            Some(("ended", json!({"action": action, "steps": steps})))
        }
        _ => None,
    }
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
