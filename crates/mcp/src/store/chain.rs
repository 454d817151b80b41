//! Entries that follow one another in a session, and are appended together.

use rusqlite::Connection;
use tokio::sync::oneshot;

use super::StoreError;
use super::outcome::Outcome;
use super::position::{self, Addition, Position};

/// The maximum number of entries that are appended together.
const MAX_ENTRIES: usize = 256;

/// The position after an entry, or `None` if the session was not at the position before it.
pub(super) type Appended = Result<Option<Position>, StoreError>;

pub(super) struct Chain {
    start: Position,
    end: Position,
    additions: Vec<Addition>,
    callers: Vec<oneshot::Sender<Appended>>,
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

    /// Returns whether an entry at this position is the next one.
    pub(super) fn goes_on_at(&self, position: Position) -> bool {
        self.end == position && self.additions.len() < MAX_ENTRIES
    }

    /// Adds the next entry.
    pub(super) fn push(&mut self, addition: Addition, caller: oneshot::Sender<Appended>) {
        self.end = self.end.next(addition.stamp);
        self.additions.push(addition);
        self.callers.push(caller);
    }

    /// Appends the entries.
    pub(super) fn run(self, connection: Result<&Connection, StoreError>) -> Outcome {
        let appended = connection
            .and_then(|connection| position::append(connection, self.start, &self.additions));
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
        let mut position = self.start;
        for (addition, caller) in self.additions.iter().zip(self.callers) {
            position = position.next(addition.stamp);
            let result = appended.clone().map(|end| end.map(|_| position));
            // The caller may have gone.
            let _ = caller.send(result);
        }
    }
}
