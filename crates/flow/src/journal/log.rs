use async_trait::async_trait;

use super::Entry;
use crate::BoxError;

/// Where a [`Recorded`](super::Recorded) journal writes its lines.
///
/// [`push`](Log::push) queues and [`written`](Log::written) waits: a line whose future is dropped
/// is written all the same, and a run that comes again for the same step waits for that line.
#[async_trait]
pub trait Log: Send + Sync {
    /// Takes a line to be written after all lines taken before. Answers its number; numbers grow.
    fn push(&self, entry: Entry) -> u64;

    /// Takes lines that are to stand in place of all before, at once: after a crash either all of
    /// the old or all of the new are there.
    fn replace(&self, entries: Vec<Entry>) -> u64;

    /// Waits until a line is where a crash cannot take it away.
    ///
    /// # Errors
    ///
    /// When it, or a line before it, could not be written.
    async fn written(&self, number: u64) -> Result<(), BoxError>;
}

/// Keeps nothing beyond the process.
#[async_trait]
impl Log for () {
    fn push(&self, _: Entry) -> u64 {
        0
    }

    fn replace(&self, _: Vec<Entry>) -> u64 {
        0
    }

    async fn written(&self, _: u64) -> Result<(), BoxError> {
        Ok(())
    }
}
