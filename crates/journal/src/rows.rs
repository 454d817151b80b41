//! What all databases have in common.

use std::time::{SystemTime, UNIX_EPOCH};

use crate::header::{Header, from_millis};
use crate::{EventLine, RunStatus, RunSummary, WaitSummary};

/// A run as it is found by a query.
pub(crate) struct RunRow {
    pub(crate) run_id: String,
    pub(crate) flow: String,
    pub(crate) fork: Option<String>,
    pub(crate) started: i64,
    pub(crate) status: String,
    /// The number, the text and the time of the last line.
    pub(crate) lines: i64,
    pub(crate) last: String,
    pub(crate) updated: Option<i64>,
    /// The lines with which its waits without an answer began, if it is open or paused.
    pub(crate) waits: Option<String>,
}

impl RunRow {
    pub(crate) fn summary(self) -> RunSummary {
        let entry = |line: &str| serde_json::from_str(line).ok();
        let waits = waits_of(self.waits.as_deref().unwrap_or_default());
        let status = match self.status.as_str() {
            "paused" => RunStatus::Paused { waits },
            "failed" | "ended" => entry(&self.last)
                .and_then(|last| RunStatus::stopped(&last))
                .unwrap_or(RunStatus::Open { waits }),
            _ => RunStatus::Open { waits },
        };

        // The first line is the header.
        let has_entries = self.lines > 1;
        RunSummary {
            run_id: self.run_id,
            flow: self.flow,
            fork: self.fork.and_then(|fork| serde_json::from_str(&fork).ok()),
            started: time(self.started).unwrap_or(UNIX_EPOCH),
            updated: self
                .updated
                .filter(|_| has_entries)
                .or(Some(self.started))
                .and_then(time),
            entries: u64::try_from(self.lines - 1).unwrap_or_default(),
            status,
        }
    }
}

/// Returns the waits that began with these lines.
pub(crate) fn waits_of(lines: &str) -> Vec<WaitSummary> {
    let waits = lines.lines().map(serde_json::from_str);
    waits
        .filter_map(|entry| WaitSummary::of(&entry.ok()?))
        .collect()
}

/// Returns an event with this number.
pub(crate) fn event_line(number: i64, json: String) -> EventLine {
    EventLine {
        json,
        next: u64::try_from(number).unwrap_or_default() + 1,
    }
}

/// Returns where a run was forked from, for a column. The first line contains it as well, but is as
/// long as the input.
pub(crate) fn fork_column(header: &Header) -> Option<String> {
    serde_json::to_string(header.fork.as_ref()?).ok()
}

/// Converts a number for a column.
pub(crate) fn count(number: impl TryInto<i64>) -> i64 {
    // A number that large is the end of an open range.
    number.try_into().unwrap_or(i64::MAX)
}

/// Returns the time in a column.
pub(crate) fn time(millis: i64) -> Option<SystemTime> {
    from_millis(u64::try_from(millis).ok()?)
}
