use std::time::{Duration, SystemTime};

use super::Json;
use crate::BoxError;

/// An event that a step waits for.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct Awaited<'a> {
    /// The name of the event.
    pub event: &'a str,
    /// The reason from [`Wait::with_reason`](crate::Wait::with_reason), for the person who answers.
    pub why: &'a str,
    /// The maximum time to wait, counted from the first call. Since the clock may have been set
    /// back in between, it is also the maximum from now.
    pub within: Option<Duration>,
    /// The JSON Schema of the answer from [`Wait::with_schema`](crate::Wait::with_schema).
    pub schema: Option<&'a Json>,
    /// Whether the run [stays at its waits](crate::Run::with_live_waits). Then a journal that learns
    /// of answers in this process waits for this one instead of returning [`Waited::Pending`].
    pub is_live: bool,
    pub(crate) accept: fn(&Json) -> Result<(), BoxError>,
}

impl Awaited<'_> {
    /// Checks whether the step can read an answer.
    ///
    /// # Errors
    ///
    /// Returns the reason why it cannot.
    pub fn accept(&self, answer: &Json) -> Result<(), BoxError> {
        (self.accept)(answer)
    }
}

/// The state of a wait.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Waited {
    /// The event arrived, with this answer.
    Answered(Json),
    /// The wait timed out.
    TimedOut,
    /// The event hasn't arrived yet. The run pauses.
    Pending {
        /// When the wait times out; `None` if it never does.
        until: Option<SystemTime>,
    },
}
