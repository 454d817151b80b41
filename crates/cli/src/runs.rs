//! The command `runs`: lists recorded runs, or what is recorded of one of them.

use std::fmt::Write as _;
use std::time::SystemTime;

use cogwork_flow::engine::Entry;
use cogwork_journal::{RecordedEntry, RunStatus, RunSummary, Store};
use cogwork_text::{Name, OneLine, counted};

use crate::arguments::Runs;
use crate::output::{Ended, tell, write};

pub(crate) async fn runs(arguments: &Runs) -> Ended {
    let store = Store::at(&arguments.journal)?;
    match &arguments.run {
        Some(run_id) => list_entries(&store, run_id).await,
        None => list_runs(&store).await,
    }
}

async fn list_runs(store: &Store) -> Ended {
    let runs = store.runs().await?;
    // The place may be misspelt.
    if runs.is_empty() {
        tell("cogwork: there are no runs at the place of --journal");
    }

    for run in &runs {
        write(format_args!(
            "{}{}",
            summary(run),
            activity(store, run).await
        ))?;
    }
    Ok(())
}

/// Says of an open run whether a process executes it.
async fn activity(store: &Store, run: &RunSummary) -> &'static str {
    if !matches!(run.status, RunStatus::Open { .. }) {
        return "";
    }
    match store.is_in_use(&run.run_id).await {
        Ok(true) => ", running",
        Ok(false) => ", not running",
        // The folder may be read-only, so that the lock can't be tried.
        Err(_) => "",
    }
}

fn summary(run: &RunSummary) -> String {
    let (run_id, flow, status) = (Name(&run.run_id), Name(&run.flow), &run.status);
    // Without a header, neither the flow nor the time is known.
    if let (RunStatus::Damaged { error }, "") = (status, run.flow.as_str()) {
        return format!("{run_id}: cannot be read: {}", OneLine::new(error));
    }

    let started = time(run.started);

    let updated = run.updated.map(|at| format!(", updated {}", time(at)));
    let updated = updated.unwrap_or_default();
    let origin = run.fork.as_ref();
    let origin = origin.map(|origin| format!(", forked from {origin}"));
    let origin = origin.unwrap_or_default();
    // After this, an answer comes too late.
    let until = status.waits().iter().filter_map(|wait| wait.until).min();
    let until = until.map(|until| format!(" until {}", time(until)));
    let until = until.unwrap_or_default();
    format!("{run_id}: `{flow}`{origin}, started {started}{updated}: {status}{until}")
}

async fn list_entries(store: &Store, run_id: &str) -> Ended {
    for RecordedEntry { at, entry, .. } in store.entries(run_id, 0..u64::MAX).await? {
        let at = at.map_or_else(|| "at an unknown time".to_owned(), time);
        write(format_args!("{at}  {}", description(&entry)))?;
    }
    Ok(())
}

/// Describes an entry in one line, without outcomes and answers, which may be long or secret.
fn description(entry: &Entry) -> String {
    match entry {
        Entry::Began { .. } => "the run began".to_owned(),
        Entry::Outcome { step, outcome } => {
            let bytes = outcome.as_str().len();
            format!("{}: outcome of {bytes} bytes", Name(step))
        }
        Entry::Sleep { step, .. } => format!("{}: sleeps", Name(step)),
        Entry::Waiting { step, event, .. } => {
            format!("{}: waits for `{}`", Name(step), Name(event))
        }
        Entry::Answer { event, .. } => format!("an answer to `{}` arrived", Name(event)),
        Entry::Taken { step, event } => {
            format!("{}: used the answer to `{}`", Name(step), Name(event))
        }
        Entry::Refused { event, error } => {
            let error = OneLine::new(error);
            format!("the answer to `{}` was refused: {error}", Name(event))
        }
        Entry::TimedOut { step } => format!("{}: timed out", Name(step)),
        Entry::Paused => "the run paused".to_owned(),
        Entry::Snapshot(snapshot) => format!("snapshot after {} steps", snapshot.steps),
        Entry::Failed { error } => format!("failed: {}", OneLine::new(error)),
        Entry::Resumed => "the run was resumed".to_owned(),
        Entry::Ended { action, steps } => {
            let steps = counted(steps, "step");
            format!("ended on `{}` after {steps}", Name(action))
        }
        _ => "an entry of a later version".to_owned(),
    }
}

/// Returns a time in UTC, as in `2026-11-23T00:29:37.123Z`.
pub(crate) fn time(time: SystemTime) -> String {
    let mut text = String::new();
    // A damaged record may have a time after the year 9999, which cannot be written.
    match write!(text, "{}", humantime::format_rfc3339_millis(time)) {
        Ok(()) => text,
        Err(_) => "at an unknown time".to_owned(),
    }
}
