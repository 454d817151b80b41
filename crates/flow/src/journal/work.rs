//! The work of a recorded call, as seen by a journal.

use std::fmt;
use std::num::NonZeroU32;

use cogwork_text::ErrorText;

use crate::boxed::BoxFuture;
use crate::failed::Failed;
use crate::{BoxError, Phase};

/// The work of a step, to be done if no outcome is recorded.
#[derive(Clone, Copy)]
pub struct Work<'a>(&'a dyn Make);

pub(crate) trait Make: Send + Sync {
    /// Returns the bytes of the outcome.
    fn make(&self) -> BoxFuture<'_, Result<Vec<u8>, WorkError>>;
}

impl<'a> Work<'a> {
    pub(crate) fn new(work: &'a dyn Make) -> Self {
        Self(work)
    }

    /// Does the work, with the retries around the node, and returns the outcome.
    ///
    /// # Errors
    ///
    /// Returns an error if all attempts failed.
    pub async fn run(self) -> Result<Vec<u8>, WorkError> {
        self.0.make().await
    }
}

/// The error of the work of a step.
pub struct WorkError(Failed);

cogwork_text::debug_as_display!(WorkError);

impl WorkError {
    /// Returns the number of attempts.
    pub fn attempts(&self) -> NonZeroU32 {
        NonZeroU32::new(self.0.attempts).unwrap_or(NonZeroU32::MIN)
    }
}

impl From<Failed> for WorkError {
    fn from(failed: Failed) -> Self {
        Self(failed)
    }
}

impl fmt::Display for WorkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        ErrorText(&self.0.source).fmt(f)
    }
}

impl std::error::Error for WorkError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(self.0.source.as_ref())
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
    /// failure from its record. The run reports it as if the work had failed just now.
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
}

impl From<WorkError> for StepError {
    fn from(error: WorkError) -> Self {
        Self(StepProblem::Work(error.0))
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
