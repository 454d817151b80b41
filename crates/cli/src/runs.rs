//! The command `runs`: lists recorded runs, or what is recorded of one of them.

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use cogwork_flow::engine::Entry;
use cogwork_journal::{RecordedEntry, RunStatus, RunSummary, Store, StoreError};
use cogwork_text::{Name, OneLine};

use crate::arguments::Runs;
use crate::output::{Outcome, runtime, tell, write};

/// How many entries are in memory at once.
const PART: u64 = 1_000;

pub(crate) fn runs(arguments: &Runs) -> Outcome {
    let runtime = match runtime() {
        Ok(runtime) => runtime,
        Err(error) => return failed(&error),
    };

    let listed = runtime.block_on(async {
        let store = Store::at(&arguments.journal)?;
        match &arguments.run {
            Some(run_id) => list_entries(&store, run_id).await,
            None => list_runs(&store, &arguments.journal).await,
        }
    });
    listed.unwrap_or_else(|error| failed(&error))
}

fn failed(error: &dyn std::fmt::Display) -> Outcome {
    tell(format_args!("cogwork: {error}"));
    Outcome::NotReadOrWritten
}

async fn list_runs(store: &Store, place: &str) -> Result<Outcome, StoreError> {
    let runs = store.runs().await?;
    let is_address = place.starts_with("postgres://") || place.starts_with("postgresql://");
    if runs.is_empty() && !is_address && !Path::new(place).exists() {
        let expected = "expected a folder or a SQLite file with runs";
        return Ok(failed(&format!(
            "{}: there is nothing here; {expected}",
            OneLine::new(place)
        )));
    }

    for run in runs {
        let outcome = write(summary(&run));
        if outcome != Outcome::Success {
            return Ok(outcome);
        }
    }

    Ok(Outcome::Success)
}

fn summary(run: &RunSummary) -> String {
    let run_id = Name(&run.run_id);
    let flow = Name(&run.flow);
    let updated = run.updated.map_or(String::new(), |updated| {
        format!(", updated {}", time(Some(updated)))
    });
    let started = time(Some(run.started));
    let status = status(&run.status);
    let origin = run.fork.as_ref();
    let origin = origin.map_or(String::new(), |origin| format!(", forked from {origin}"));

    format!("{run_id}: `{flow}`{origin}, started {started}{updated}: {status}")
}

fn status(status: &RunStatus) -> String {
    match status {
        RunStatus::Open => "open".to_owned(),
        RunStatus::Paused { waits } => {
            let events = waits.iter().map(|wait| format!("`{}`", Name(&wait.event)));
            let events: Vec<_> = events.collect();
            format!("waits for {}", events.join(", "))
        }
        RunStatus::Failed { error } => format!("failed: {}", OneLine::new(error)),
        RunStatus::Ended { action, steps } => ended(action, *steps),
        RunStatus::Damaged { error } => format!("damaged: {}", OneLine::new(error)),
        _ => "in an unknown state".to_owned(),
    }
}

async fn list_entries(store: &Store, run_id: &str) -> Result<Outcome, StoreError> {
    let mut start = 0;

    loop {
        let entries = store.entries(run_id, start..start + PART).await?;
        if entries.is_empty() {
            return Ok(Outcome::Success);
        }

        start += PART;
        for entry in &entries {
            let outcome = write(line(entry));
            if outcome != Outcome::Success {
                return Ok(outcome);
            }
        }
    }
}

fn line(recorded: &RecordedEntry) -> String {
    let at = time(recorded.at);
    format!("{at}  {}", description(&recorded.entry))
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
        Entry::Snapshot(snapshot) => format!("snapshot after {} steps", snapshot.steps),
        Entry::Failed { error } => format!("failed: {}", OneLine::new(error)),
        Entry::Ended { action, steps } => ended(action, *steps),
        _ => "an entry of a later version".to_owned(),
    }
}

/// The year 10000, after which times cannot be written, in seconds since 1970.
const TOO_LATE: u64 = 253_402_300_800;

/// Returns a time in UTC, as in `2026-11-23T00:29:37.123Z`.
fn time(time: Option<SystemTime>) -> String {
    let is_printable = |time: &SystemTime| {
        let since = time.duration_since(UNIX_EPOCH);
        since.is_ok_and(|since| since.as_secs() < TOO_LATE)
    };

    match time.filter(is_printable) {
        Some(time) => humantime::format_rfc3339_millis(time).to_string(),
        None => "at an unknown time".to_owned(),
    }
}

fn ended(action: &str, steps: u64) -> String {
    let plural = if steps == 1 { "" } else { "s" };
    format!("ended on `{}` after {steps} step{plural}", Name(action))
}
