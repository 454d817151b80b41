use async_trait::async_trait;

use super::Entry;
use crate::BoxError;

/// The storage behind a [`Recorded`](super::Recorded) journal.
///
/// [`push`](Log::push) queues an entry, and [`written`](Log::written) waits until it is stored. A
/// queued entry is written even if that future is dropped; a run that repeats the step waits for
/// the same entry.
#[async_trait]
pub trait Log: Send + Sync {
    /// Queues an entry to be written after all earlier ones. Returns its number, which is higher
    /// than those of all earlier entries.
    fn push(&self, entry: Entry) -> u64;

    /// Queues entries that replace all earlier ones atomically: after a crash, the log contains
    /// either all old or all new entries. Returns their number.
    fn replace(&self, entries: Vec<Entry>) -> u64;

    /// Waits until an entry is stored durably.
    ///
    /// # Errors
    ///
    /// Returns an error if this entry or an earlier one could not be written.
    async fn written(&self, number: u64) -> Result<(), BoxError>;
}

/// Stores nothing.
#[async_trait]
impl Log for () {
    fn push(&self, _: Entry) -> u64 {
        // The number of what needn't be waited for.
        0
    }

    fn replace(&self, _: Vec<Entry>) -> u64 {
        0
    }

    async fn written(&self, _: u64) -> Result<(), BoxError> {
        Ok(())
    }
}
