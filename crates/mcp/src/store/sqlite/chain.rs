//! Entries that follow one another in a session, and are appended together.

use rusqlite::Connection;
use tokio::sync::oneshot;

use super::entries;
use super::outcome::Outcome;
use crate::store::StoreError;
use crate::store::position::{Addition, MAX_ENTRIES, Position};

/// The position after the last entry of a caller, or `None` if the session was not at the position before it.
pub(super) type Appended = Result<Option<Position>, StoreError>;

pub(super) struct Chain {
    start: Position,
    end: Position,
    additions: Vec<Addition>,
    callers: Vec<Caller>,
}

/// Waits until its entries are stored.
struct Caller {
    /// The position after its last entry.
    end: Position,
    sender: oneshot::Sender<Appended>,
}

impl Chain {
    pub(super) fn new(start: Position) -> Self {
        Self {
            start,
            end: start,
            additions: Vec::new(),
            callers: Vec::new(),
        }
    }

    /// Returns whether this many entries at this position are the next ones.
    pub(super) fn goes_on_at(&self, position: Position, entries: usize) -> bool {
        let count = self.additions.len().saturating_add(entries);
        self.end == position && count <= MAX_ENTRIES
    }

    /// Adds the next entries.
    pub(super) fn push(&mut self, additions: Vec<Addition>, sender: oneshot::Sender<Appended>) {
        let stamps = additions.iter().map(|addition| addition.stamp);
        self.end = stamps.fold(self.end, Position::next);
        self.additions.extend(additions);
        self.callers.push(Caller {
            end: self.end,
            sender,
        });
    }

    /// Appends the entries.
    pub(super) fn run(self, connection: Result<&Connection, StoreError>) -> Outcome {
        let appended = connection
            .and_then(|connection| entries::append(connection, self.start, &self.additions));
        let error = appended.as_ref().err().cloned();

        let acknowledge = move |committed: Result<(), StoreError>| {
            let appended = appended.and_then(|end| committed.map(|()| end));
            self.acknowledge(&appended);
        };
        Outcome {
            error,
            acknowledge: Box::new(acknowledge),
        }
    }

    fn acknowledge(self, appended: &Appended) {
        for Caller { end, sender } in self.callers {
            let result = appended.clone().map(|appended| appended.map(|_| end));
            // The caller may have gone.
            let _ = sender.send(result);
        }
    }
}
