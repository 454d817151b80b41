//! Positions in sessions, and the entries before and after them.

use super::{Change, SessionKind};

/// The maximum number of bytes of entries that are read at once, unless a single one is longer.
pub(super) const PAGE: usize = 4 * 1024 * 1024;

/// The maximum number of entries that are appended together.
pub(super) const MAX_ENTRIES: usize = 256;

/// The end of a session as it was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Position {
    /// Another session with the same id has another key.
    pub(super) session: i64,
    pub(super) entries: u64,
    /// The stamp of the last entry, or `None` if any entry will do.
    pub(super) stamp: Option<i64>,
}

impl Position {
    pub(super) fn start_of(session: i64) -> Self {
        Self {
            session,
            entries: 0,
            stamp: None,
        }
    }

    /// Returns the position after another entry.
    pub(super) fn next(self, stamp: i64) -> Self {
        Self {
            session: self.session,
            entries: self.entries.saturating_add(1),
            stamp: Some(stamp),
        }
    }
}

/// What follows a position.
#[derive(Debug)]
pub(super) struct Recent {
    pub(super) kind: SessionKind,
    /// Where the entries start.
    pub(super) start: Start,
    pub(super) entries: Vec<Entry>,
    /// Whether there are no more entries.
    pub(super) is_complete: bool,
}

/// An entry that is stored.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) stamp: i64,
    pub(super) body: String,
}

/// Where entries start.
#[derive(Debug)]
pub(super) enum Start {
    /// At the position that was given.
    There,
    /// Anew: at a position with what is kept instead of earlier entries, if there were any.
    Anew {
        position: Position,
        base: Option<String>,
    },
}

/// What is kept instead of entries that are dropped.
#[derive(Debug, Clone)]
pub(crate) struct Shortened {
    /// The number of entries that are dropped in all.
    pub(crate) dropped: u64,
    /// The state that cannot be rebuilt from the others.
    pub(crate) base: String,
}

/// What is appended.
#[derive(Debug)]
pub(super) struct Addition {
    pub(super) stamp: i64,
    pub(super) body: String,
    pub(super) change: Change,
    pub(super) shortened: Option<Shortened>,
}
