//! The work behind a recorded call, as a journal sees it.

use std::fmt;
use std::num::NonZeroU32;
use std::time::Duration;

use cogwork_text::ErrorText;

use crate::boxed::BoxFuture;
use crate::failed::Failed;
use crate::{BoxError, Phase};

/// The work of a step: what to do where there is no outcome on record.
#[derive(Clone, Copy)]
pub struct Work<'a>(&'a dyn Attempt);

pub(crate) trait Attempt: Send + Sync {
    /// All attempts, or the one of this number.
    fn attempt(&self, number: Option<NonZeroU32>) -> BoxFuture<'_, Result<Vec<u8>, WorkError>>;
}

impl<'a> Work<'a> {
    pub(crate) fn new(attempt: &'a dyn Attempt) -> Self {
        Self(attempt)
    }

    /// Does the work, with the retries that are wrapped around the node, and answers the outcome.
    ///
    /// # Errors
    ///
    /// When all attempts failed.
    pub async fn run(self) -> Result<Vec<u8>, WorkError> {
        self.0.attempt(None).await
    }

    /// Does the work once, for an engine that tries again by itself.
    ///
    /// # Errors
    ///
    /// When the attempt failed. [`WorkError::again_in`] says whether to try again and when: what a
    /// [`Retry`](crate::wrap::Retry) around the node would do after so many attempts.
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

    /// How many there are.
    #[expect(
        clippy::len_without_is_empty,
        reason = "a batch of nothing never comes to a journal"
    )]
    pub fn len(self) -> usize {
        self.0.len()
    }

    /// How many may be worked on at a time, at least 1.
    pub fn at_most(self) -> usize {
        self.0.at_most()
    }

    /// An item as data, for [`Flow::exec_item`](crate::Flow::exec_item) in another process: a JSON text on
    /// one line, which holds also the idempotency key of the item and how large its outcome may be.
    ///
    /// # Errors
    ///
    /// When there is no such item, or it cannot be written as JSON or is larger than an outcome may be.
    pub fn data(self, index: usize) -> Result<Vec<u8>, WorkError> {
        self.0.data(index)
    }

    /// The work on an item, here; `None` where there is no such item.
    pub fn work(self, index: usize) -> Option<Work<'a>> {
        self.0.work(index)
    }
}

/// How the work of a step failed.
#[derive(Debug)]
pub struct WorkError {
    pub(crate) failed: Failed,
    pub(crate) again_in: Option<Duration>,
}

impl WorkError {
    /// How long to wait before the next attempt; `None` where there is to be none.
    pub fn again_in(&self) -> Option<Duration> {
        self.again_in
    }

    /// How often the work was tried so far.
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

/// Why there is no outcome of a step.
#[derive(Debug)]
pub struct StepError(pub(crate) StepProblem);

#[derive(Debug)]
pub(crate) enum StepProblem {
    /// The work failed.
    Work(Failed),
    /// The journal did.
    Journal(BoxError),
}

impl StepError {
    /// That the work failed after so many attempts, for an engine that knows of it from its record
    /// or from another process. The run says the same of it as if the work had failed here.
    pub fn failed(attempts: NonZeroU32, error: impl Into<BoxError>) -> Self {
        let failed = Failed::new(Phase::Exec, error);
        Self(StepProblem::Work(Failed {
            attempts: attempts.get(),
            ..failed
        }))
    }

    /// An error of the journal's own.
    pub fn journal(error: impl Into<BoxError>) -> Self {
        Self(StepProblem::Journal(error.into()))
    }

    /// The same error, of one item of a batch.
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
