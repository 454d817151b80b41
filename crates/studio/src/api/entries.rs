//! The events of a run from its outcomes, which no crash loses.

use std::time::SystemTime;

use cogwork_flow::engine::Entry;
use cogwork_journal::{RecordedEntry, RunSummary};
use serde_json::{Value, json};

use super::View;
use crate::view::{error, seconds};

/// Returns the first event.
pub(super) fn header(run: &RunSummary) -> Value {
    json!({
        "at": 0.0,
        "type": "opened",
        "run": run.run_id,
        "flow": run.flow,
        "started": seconds(run.started),
        "left_out": "events",
    })
}

/// Returns the event of an entry, if it has one.
pub(super) fn event(entry: &RecordedEntry, started: SystemTime, view: View) -> Option<Value> {
    let since = entry.at.and_then(|at| at.duration_since(started).ok());
    let at = since.map_or(0.0, |since| since.as_secs_f64());

    Some(match &entry.entry {
        Entry::Outcome { step, .. } | Entry::Taken { step, .. } | Entry::TimedOut { step } => {
            json!({"step": step, "at": at, "type": "phase_finished", "phase": "exec", "took": 0.0})
        }
        Entry::Waiting {
            step,
            event,
            why,
            until,
            schema,
        } => json!({
            "at": at,
            "type": "paused",
            "waits_at": step,
            "event": event,
            "why": why,
            "until": until.map(|until| until as f64 / 1e3),
            "schema": schema,
        }),
        Entry::Failed { error: text } => {
            json!({"at": at, "type": "failed", "error": error(text, view)})
        }
        Entry::Ended { action, steps } => {
            json!({"at": at, "type": "ended", "action": action, "steps": steps})
        }
        _ => return None,
    })
}
