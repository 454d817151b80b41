//! The work of a recorded call, as seen by a journal.

use std::fmt;
use std::num::NonZeroU32;
use std::time::Duration;

use cogwork_text::ErrorText;

use crate::boxed::BoxFuture;
use crate::failed::Failed;
use crate::{BoxError, Phase};

/// The work of a step, to be done if no outcome is recorded.
#[derive(Clone, Copy)]
pub struct Work<'a>(&'a dyn Attempt);

pub(crate) trait Attempt: Send + Sync {
    /// Makes all attempts, or the one with this number.
    fn attempt(&self, number: Option<NonZeroU32>) -> BoxFuture<'_, Result<Vec<u8>, WorkError>>;
}

impl<'a> Work<'a> {
    pub(crate) fn new(attempt: &'a dyn Attempt) -> Self {
        Self(attempt)
    }

    /// Does the work, with the retries around the node, and returns the outcome.
    ///
    /// # Errors
    ///
    /// Returns an error if all attempts failed.
    pub async fn run(self) -> Result<Vec<u8>, WorkError> {
        self.0.attempt(None).await
    }

    /// Makes a single attempt, for an engine that does its own retries.
    ///
    /// # Errors
    ///
    /// Returns an error if the attempt failed. [`WorkError::again_in`] returns whether and when to
    /// retry, as a [`Retry`](crate::wrap::Retry) around the node would after this many attempts.
    pub async fn attempt(self, number: NonZeroU32) -> Result<Vec<u8>, WorkError> {
        self.0.attempt(Some(number)).await
    }
}

/// The items of a batch, as data and as work.
#[derive(Clone, Copy)]
pub struct Items<'a>(&'a dyn EachItem);

pub(crate) trait EachItem: Send + Sync {
    fn len(&self) -> usize;
    fn at_most(&self) -> usize;
    fn data(&self, index: usize) -> Result<Vec<u8>, WorkError>;
    fn work(&self, index: usize) -> Option<Work<'_>>;
}

impl<'a> Items<'a> {
    pub(crate) fn new(items: &'a dyn EachItem) -> Self {
        Self(items)
    }

    /// Returns the number of items.
    #[expect(
        clippy::len_without_is_empty,
        reason = "a batch of nothing never comes to a journal"
    )]
    pub fn len(self) -> usize {
        self.0.len()
    }

    /// Returns the maximum number of concurrent items, at least 1.
    pub fn at_most(self) -> usize {
        self.0.at_most()
    }

    /// Serialises an item, for [`Flow::exec_item`](crate::Flow::exec_item) in a different process.
    /// The result is a JSON text on one line that also contains the idempotency key of the item and
    /// the maximum size of its outcome.
    ///
    /// # Errors
    ///
    /// Returns an error if the item doesn't exist, cannot be written as JSON, or is larger than the
    /// maximum size of an outcome.
    pub fn data(self, index: usize) -> Result<Vec<u8>, WorkError> {
        self.0.data(index)
    }

    /// Returns the work on an item in this process; `None` if the item doesn't exist.
    pub fn work(self, index: usize) -> Option<Work<'a>> {
        self.0.work(index)
    }
}

/// The error of the work of a step.
pub struct WorkError {
    pub(crate) failed: Failed,
    pub(crate) again_in: Option<Duration>,
}

cogwork_text::debug_as_display!(WorkError);

impl WorkError {
    /// Returns the delay before the next attempt; `None` if the work should not be retried.
    pub fn again_in(&self) -> Option<Duration> {
        self.again_in
    }

    /// Returns the number of attempts so far.
    pub fn attempts(&self) -> NonZeroU32 {
        NonZeroU32::new(self.failed.attempts).unwrap_or(NonZeroU32::MIN)
    }
}

impl From<Failed> for WorkError {
    fn from(failed: Failed) -> Self {
        Self {
            failed,
            again_in: None,
        }
    }
}

impl fmt::Display for WorkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        ErrorText(&self.failed.source).fmt(f)
    }
}

impl std::error::Error for WorkError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(self.failed.source.as_ref())
    }
}

/// The error of a step without an outcome.
pub struct StepError(pub(crate) StepProblem);

cogwork_text::debug_as_display!(StepError);

#[derive(Debug)]
pub(crate) enum StepProblem {
    /// The work failed.
    Work(Failed),
    /// The journal failed.
    Journal(BoxError),
}

impl StepError {
    /// Creates the error of work that failed after this many attempts, for an engine that read the
    /// failure from its record or received it from a different process. The run reports it as if
    /// the work had failed in this process.
    pub fn failed(attempts: NonZeroU32, error: impl Into<BoxError>) -> Self {
        let failed = Failed::new(Phase::Exec, error);
        Self(StepProblem::Work(Failed {
            attempts: attempts.get(),
            ..failed
        }))
    }

    /// Creates an error of the journal.
    pub fn journal(error: impl Into<BoxError>) -> Self {
        Self(StepProblem::Journal(error.into()))
    }

    /// Returns the same error for one item of a batch.
    #[must_use]
    pub fn of_item(mut self, index: usize) -> Self {
        if let StepProblem::Work(failed) = &mut self.0 {
            failed.item = Some(index);
        }
        self
    }
}

impl From<WorkError> for StepError {
    fn from(error: WorkError) -> Self {
        Self(StepProblem::Work(error.failed))
    }
}

impl fmt::Display for StepError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            StepProblem::Work(failed) => ErrorText(&failed.source).fmt(f),
            StepProblem::Journal(error) => ErrorText(error).fmt(f),
        }
    }
}

impl std::error::Error for StepError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.0 {
            StepProblem::Work(failed) => Some(failed.source.as_ref()),
            StepProblem::Journal(error) => Some(error.as_ref()),
        }
    }
}
