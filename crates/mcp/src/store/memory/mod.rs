//! Sessions in memory, which end with the server.

mod room;
mod select;
mod session;
mod sessions;

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use self::sessions::Sessions;
use super::StoreError;
use super::position::{Addition, Position};
use super::transaction::Transaction;
use crate::ServerLimits;

/// Sessions that all clones share.
#[derive(Clone)]
pub(super) struct Memory(Arc<Mutex<Sessions>>);

impl Memory {
    pub(super) fn new(limits: &ServerLimits) -> Self {
        let sessions = Sessions::new(limits.database_bytes);
        Self(Arc::new(Mutex::new(sessions)))
    }

    pub(super) fn write<T>(
        &self,
        work: impl FnOnce(&mut dyn Transaction) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        work(&mut *self.lock())
    }

    pub(super) fn read<T>(
        &self,
        work: impl FnOnce(&dyn Transaction) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        work(&*self.lock())
    }

    /// Appends entries, and returns the new position. Returns `None` if the session isn't at the
    /// position.
    pub(super) fn append(
        &self,
        position: Position,
        additions: Vec<Addition>,
    ) -> Result<Option<Position>, StoreError> {
        self.lock().append(position, additions)
    }

    fn lock(&self) -> MutexGuard<'_, Sessions> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Memory")
    }
}
