//! The bound of the memory for all sessions.

use crate::store::StoreError;

/// The memory that sessions use, in bytes, approximately.
#[derive(Debug)]
pub(super) struct Room {
    used: usize,
    most: usize,
}

impl Room {
    pub(super) fn new(most: usize) -> Self {
        Self { used: 0, most }
    }

    /// Checks that something fits after something else was removed.
    ///
    /// # Errors
    ///
    /// Returns an error if it doesn't.
    pub(super) fn check(&self, added: usize, removed: usize) -> Result<(), StoreError> {
        let used = self.used.saturating_sub(removed);
        if used.saturating_add(added) <= self.most {
            return Ok(());
        }

        let most = self.most;
        Err(StoreError::new(format_args!(
            "the memory for sessions is full: at most {most} bytes are kept; remove old sessions"
        )))
    }

    /// Sets how much something uses that used another number of bytes before.
    pub(super) fn replace(&mut self, before: usize, after: usize) {
        self.used = self.used.saturating_sub(before).saturating_add(after);
    }
}
