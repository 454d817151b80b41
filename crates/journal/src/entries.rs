use std::time::SystemTime;

use cogwork_flow::engine::Entry;

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
