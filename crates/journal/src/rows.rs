//! What all databases have in common.

use std::time::{SystemTime, UNIX_EPOCH};

use cogwork_flow::journal::Entry;
use cogwork_text::Name;

use crate::error::Kind;
use crate::header::Header;
use crate::time::{from_millis, to_millis};
use crate::{EventLine, RunStatus, RunSummary, StoreError, WaitSummary};

/// A run as it is found by a query.
pub(crate) struct RunRow {
    pub(crate) run_id: String,
    pub(crate) flow: String,
    pub(crate) fork: Option<String>,
    pub(crate) started: i64,
    pub(crate) status: String,
    /// The number, the text and the time of the last line.
    pub(crate) lines: i64,
    pub(crate) last: Option<String>,
    pub(crate) updated: Option<i64>,
    /// The waits, if it is paused.
    pub(crate) waits: Vec<WaitRow>,
}

/// A step that waits.
pub(crate) struct WaitRow {
    /// The line with which it began to wait.
    pub(crate) line: String,
    pub(crate) until: Option<i64>,
}

impl RunRow {
    pub(crate) fn summary(self) -> RunSummary {
        let last = || serde_json::from_str(self.last.as_deref()?).ok();
        let status = match self.status.as_str() {
            "paused" => RunStatus::Paused {
                waits: self.waits.iter().filter_map(WaitRow::summary).collect(),
            },
            "failed" | "ended" => last()
                .and_then(|last| RunStatus::stopped(&last))
                .unwrap_or(RunStatus::Open),
            _ => RunStatus::Open,
        };

        RunSummary {
            run_id: self.run_id,
            flow: self.flow,
            fork: self.fork.and_then(|fork| serde_json::from_str(&fork).ok()),
            started: time(self.started).unwrap_or(UNIX_EPOCH),
            updated: self.updated.or(Some(self.started)).and_then(time),
            // The first line is the header.
            entries: u64::try_from(self.lines - 1).unwrap_or_default(),
            status,
        }
    }
}

impl WaitRow {
    fn summary(&self) -> Option<WaitSummary> {
        let entry: Entry = serde_json::from_str(&self.line).ok()?;
        Some(WaitSummary {
            until: self.until.and_then(time),
            ..WaitSummary::of(&entry)?
        })
    }
}

/// Checks that a line has the expected number.
pub(crate) fn check_number(
    place: impl FnOnce() -> String,
    expected: u64,
    number: i64,
) -> Result<(), StoreError> {
    if number == count(expected) {
        return Ok(());
    }

    let place = place();
    let text = format_args!("{place}: it is missing: the next line has the number {number}");
    Err(StoreError::new(Kind::Damaged, text))
}

/// Returns an event with this number.
pub(crate) fn event_line(number: i64, json: String) -> EventLine {
    EventLine {
        json,
        next: u64::try_from(number).unwrap_or_default() + 1,
    }
}

/// Returns the error for a run that was removed or written by somebody else.
pub(crate) fn gone(place: &str, run_id: &str) -> StoreError {
    let run_id = Name(run_id);
    let text = format_args!(
        "{place}: the run `{run_id}` was removed, or written by somebody else, while it was at work"
    );
    StoreError::new(Kind::Gone, text)
}

/// Returns where a run was forked from, for a column. The first line contains it as well, but is as
/// long as the input.
pub(crate) fn fork_column(header: &Header) -> Option<String> {
    serde_json::to_string(header.fork.as_ref()?).ok()
}

/// Converts a number for a column.
pub(crate) fn count(number: impl TryInto<i64>) -> i64 {
    number.try_into().unwrap_or(i64::MAX)
}

/// Converts a time for a column.
pub(crate) fn millis(time: SystemTime) -> i64 {
    count(to_millis(time))
}

/// Returns the time in a column.
pub(crate) fn time(millis: i64) -> Option<SystemTime> {
    from_millis(u64::try_from(millis).ok()?)
}
