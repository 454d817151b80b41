use std::ops::{Bound, Range, RangeBounds};
use std::time::SystemTime;

use cogwork_flow::journal::Entry;

use crate::record::Line;
use crate::time::from_millis;

/// An entry of the record of a run.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct RecordedEntry {
    /// The index of the entry, starting at 0.
    pub index: u64,
    /// When the entry was recorded, to the millisecond, by the clock of the machine or the database
    /// server that recorded it. If that clock was set back, an entry can be earlier than those
    /// before it. A snapshot, and the answers that were kept with it, have the time of the snapshot.
    /// `None` if the record doesn't contain it.
    pub at: Option<SystemTime>,
    /// The entry.
    pub entry: Entry,
}

impl RecordedEntry {
    pub(crate) fn new(index: u64, line: Line) -> Self {
        Self {
            index,
            at: line.at.and_then(from_millis),
            entry: line.entry,
        }
    }
}

/// Returns the indexes in a range.
pub(crate) fn indexes(range: &impl RangeBounds<u64>) -> Range<u64> {
    let start = match range.start_bound() {
        Bound::Included(start) => *start,
        Bound::Excluded(before) => before.saturating_add(1),
        Bound::Unbounded => 0,
    };
    let end = match range.end_bound() {
        Bound::Included(last) => last.saturating_add(1),
        Bound::Excluded(end) => *end,
        Bound::Unbounded => u64::MAX,
    };

    start..end
}
