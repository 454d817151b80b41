use std::fmt;

use super::Json;

/// The state with which a run begins, for [`Journal::begin`](super::Journal::begin).
#[derive(Clone, Copy)]
pub struct FirstState<'a>(&'a dyn Fn() -> Option<Json>);

impl<'a> FirstState<'a> {
    pub(crate) fn new(write: &'a dyn Fn() -> Option<Json>) -> Self {
        Self(write)
    }

    /// Serialises the state. Returns `None` if it cannot be written as JSON.
    pub fn json(self) -> Option<Json> {
        (self.0)()
    }
}

impl fmt::Debug for FirstState<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FirstState").finish_non_exhaustive()
    }
}
