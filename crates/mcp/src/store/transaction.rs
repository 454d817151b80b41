//! What a store of sessions can do within a transaction.

use std::ops::ControlFlow;

use super::position::{Addition, Position, Recent};
use super::{Filter, NewSession, SessionHeader, SessionId, StoreError};

/// A transaction in which sessions are read and changed. If it fails, nothing is changed.
pub(super) trait Transaction {
    /// Creates a session, with a first entry if there is one, and returns its end. Returns `None`
    /// if there already is a session with this id.
    ///
    /// If the owner has `most` sessions, those of `sequentialthinking` without a name are removed
    /// that were used the longest time ago.
    ///
    /// # Errors
    ///
    /// Returns an error if the owner has `most` sessions that are not removed, or if there is no
    /// room.
    fn begin(
        &mut self,
        owner: &str,
        id: &SessionId,
        new: &NewSession,
        first: Option<Addition>,
        most: usize,
    ) -> Result<Option<Position>, StoreError>;

    /// Appends entries, and returns the new position. Returns `None` if the session isn't at the
    /// position.
    fn append(
        &mut self,
        position: Position,
        additions: Vec<Addition>,
    ) -> Result<Option<Position>, StoreError>;

    /// Removes a session. Returns whether there was one.
    fn remove(&mut self, owner: &str, id: &SessionId) -> Result<bool, StoreError>;

    /// Returns the key of a session.
    fn key(&self, owner: &str, id: &SessionId) -> Result<Option<i64>, StoreError>;

    /// Returns the header of a session.
    fn header(&self, owner: &str, id: &SessionId) -> Result<Option<SessionHeader>, StoreError>;

    /// Returns the entries after a position, or all of them if there are others at the position.
    /// Returns `None` if there is no such session.
    fn recent(
        &self,
        owner: &str,
        id: &SessionId,
        position: Option<Position>,
    ) -> Result<Option<Recent>, StoreError>;

    /// Returns the newest entries, in order. All of them together have at most this many bytes,
    /// unless a single one is longer.
    fn newest(&self, session: i64, max_bytes: usize) -> Result<Vec<String>, StoreError>;

    /// Returns the selected sessions, whatever their words.
    fn select(&self, owner: &str, filter: &Filter) -> Result<Vec<SessionHeader>, StoreError>;

    /// Reads the texts that searches find, in lower case, of the entries after the one with this
    /// number. Returns `Continue` if all of them were read.
    fn texts(
        &self,
        owner: &str,
        id: &SessionId,
        after: u64,
        read: &mut dyn FnMut(u64, &str) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, StoreError>;
}

/// Returns the error of an owner who has too many sessions.
pub(super) fn too_many(count: usize, most: usize) -> StoreError {
    let message = format_args!("there already are {count} sessions; at most {most} are kept");
    StoreError::new(message)
}
