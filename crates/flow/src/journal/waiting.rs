use std::time::{Duration, SystemTime};

use crate::BoxError;

/// What a step waits for.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct Awaited<'a> {
    /// The name of the event.
    pub event: &'a str,
    /// What [`Wait::with_reason`](crate::Wait::with_reason) says, for whoever is to answer.
    pub why: &'a str,
    /// How long to wait, from the first time this was asked, and never longer than that from now: the
    /// clock may have been set back in between.
    pub within: Option<Duration>,
    pub(crate) accept: &'a (dyn Fn(&[u8]) -> Result<(), BoxError> + Sync),
}

impl Awaited<'_> {
    /// Whether the step can read an answer.
    ///
    /// # Errors
    ///
    /// Says why it cannot.
    pub fn accept(&self, answer: &[u8]) -> Result<(), BoxError> {
        (self.accept)(answer)
    }
}

/// How waiting for an event stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Waited {
    /// It came, with this answer.
    Answered(Vec<u8>),
    /// It did not come in time.
    TimedOut,
    /// It has not come yet. The run pauses.
    Pending {
        /// When it is too late.
        until: Option<SystemTime>,
    },
}
