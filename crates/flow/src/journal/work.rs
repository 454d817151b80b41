//! The work of a recorded call, as seen by a journal.

use std::pin::Pin;
use std::task::{Context, Poll};

use cogwork_text::ErrorText;

use super::Json;
use crate::BoxError;
use crate::execute::failure::Failed;

/// The work of a call, for [`Journal::call`](super::Journal::call): a future, to be awaited if no
/// outcome is recorded. It includes the retries around the node.
pub struct Work<'a>(Pin<&'a mut (dyn Future<Output = Result<Json, WorkError>> + Send + 'a)>);

impl<'a> Work<'a> {
    pub(crate) fn new(
        work: Pin<&'a mut (dyn Future<Output = Result<Json, WorkError>> + Send + 'a)>,
    ) -> Self {
        Self(work)
    }
}

impl Future for Work<'_> {
    type Output = Result<Json, WorkError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.0.as_mut().poll(context)
    }
}

/// The error of work that failed.
#[derive(thiserror::Error)]
#[error("{}", ErrorText(error))]
pub struct WorkError {
    /// The number of attempts.
    pub attempts: u32,
    /// The error of the last attempt.
    #[source]
    pub error: BoxError,
}

cogwork_text::debug_as_display!(WorkError);

impl From<Failed> for WorkError {
    fn from(failed: Failed) -> Self {
        Self {
            attempts: failed.attempts,
            error: failed.source,
        }
    }
}

/// The error of a call without an outcome.
#[derive(thiserror::Error)]
pub enum StepError {
    /// The work failed, just now or on record. The run reports both in the same way.
    #[error("{}", ErrorText(_0))]
    Work(#[from] WorkError),
    /// The journal failed.
    #[error("{}", ErrorText(_0))]
    Journal(#[source] BoxError),
}

cogwork_text::debug_as_display!(StepError);

impl StepError {
    /// Creates an error of the journal.
    pub fn journal(error: impl Into<BoxError>) -> Self {
        Self::Journal(error.into())
    }
}
