//! Where sessions are: in a database or in memory.

use std::future;
use std::path::Path;

use futures_util::future::Either;

use super::StoreError;
use super::memory::Memory;
use super::position::{Addition, Position};
use super::sqlite::{Database, Rows};
use super::transaction::Transaction;
use crate::ServerLimits;

/// Keeps sessions. Cloning is cheap.
#[derive(Debug, Clone)]
pub(super) enum Backend {
    Database(Database),
    Memory(Memory),
}

impl Backend {
    /// Opens the database in this folder, or keeps sessions in memory if it is `None`. May block.
    pub(super) fn open(folder: Option<&Path>, limits: &ServerLimits) -> Result<Self, StoreError> {
        match folder {
            Some(folder) => Database::open(folder, limits).map(Self::Database),
            None => Ok(Self::Memory(Memory::new(limits))),
        }
    }

    /// Changes sessions in a transaction, and returns the result once it is stored.
    ///
    /// The work is queued or done at once, and done even if the future is dropped. Work is done in
    /// the order of these calls.
    pub(super) fn write<T: Send + 'static, W>(
        &self,
        work: W,
    ) -> impl Future<Output = Result<T, StoreError>> + Send + use<T, W>
    where
        W: FnOnce(&mut dyn Transaction) -> Result<T, StoreError> + Send + 'static,
    {
        match self {
            Self::Database(database) => {
                let work = database.write(move |connection| work(&mut Rows(connection)));
                Either::Left(work)
            }
            Self::Memory(memory) => Either::Right(future::ready(memory.write(work))),
        }
    }

    /// Reads a consistent state, which includes what was written earlier.
    pub(super) fn read<T: Send + 'static, W>(
        &self,
        work: W,
    ) -> impl Future<Output = Result<T, StoreError>> + Send + use<T, W>
    where
        W: FnOnce(&dyn Transaction) -> Result<T, StoreError> + Send + 'static,
    {
        match self {
            Self::Database(database) => {
                let work = database.read(move |connection| work(&Rows(connection)));
                Either::Left(work)
            }
            Self::Memory(memory) => Either::Right(future::ready(memory.read(work))),
        }
    }

    /// Appends an entry, and returns the new position once it is stored. Returns `None` if the
    /// session is not at the position.
    ///
    /// What a task appends before it waits is stored together.
    pub(super) fn append(
        &self,
        position: Position,
        addition: Addition,
    ) -> impl Future<Output = Result<Option<Position>, StoreError>> + Send + use<> {
        match self {
            Self::Database(database) => Either::Left(database.append(position, addition)),
            Self::Memory(memory) => {
                let appended = memory.append(position, vec![addition]);
                Either::Right(future::ready(appended))
            }
        }
    }
}
