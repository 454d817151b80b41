//! The events of a run without any, from the entries of its journal.

use std::time::SystemTime;

use cogwork_flow::journal::Entry;
use cogwork_journal::{RecordedEntry, RunSummary};
use serde_json::{Value, json};

use crate::view::seconds;

/// Returns the first event.
pub(super) fn header(run: &RunSummary) -> Value {
    json!({
        "at": 0.0,
        "type": "opened",
        "run": run.run_id,
        "flow": run.flow,
        "started": seconds(run.started),
        "content": "none",
    })
}

/// Returns the events of an entry.
pub(super) fn events(entry: &RecordedEntry, started: SystemTime) -> Vec<Value> {
    let since = entry.at.and_then(|at| at.duration_since(started).ok());
    let at = since.map_or(0.0, |since| since.as_secs_f64());

    match &entry.entry {
        Entry::Outcome { step, .. } => vec![
            json!({"step": step, "at": at, "type": "step_entered"}),
            json!({"step": step, "at": at, "type": "phase_finished", "phase": "exec", "took": 0.0}),
        ],
        Entry::Sleep { step, .. } => {
            vec![json!({"step": step, "at": at, "type": "step_entered"})]
        }
        Entry::Waiting {
            step, event, why, ..
        } => vec![
            json!({"step": step, "at": at, "type": "step_entered"}),
            json!({"at": at, "type": "paused", "waits_at": step, "event": event, "why": why}),
        ],
        Entry::Taken { step, event } => {
            vec![noted(
                at,
                step,
                &format!("the answer to `{event}` was used"),
            )]
        }
        Entry::TimedOut { step } => vec![noted(at, step, "the wait timed out")],
        Entry::Failed { error } => vec![json!({"at": at, "type": "failed", "error": error})],
        Entry::Ended { action, steps } => {
            vec![json!({"at": at, "type": "ended", "action": action, "steps": steps})]
        }
        _ => Vec::new(),
    }
}

fn noted(at: f64, step: &str, text: &str) -> Value {
    json!({"step": step, "at": at, "type": "noted", "text": text})
}
