use std::num::NonZeroU64;
use std::sync::Arc;

use crate::EventSink;
use crate::execute::journaled::MAX_OUTCOME;
use crate::journal::{Json, OutcomeProblem};

/// What few runs have.
pub(super) struct Extra<S> {
    pub(super) id: Option<Arc<str>>,
    /// Where to tell events, until the run has begun to.
    pub(super) sink: Option<EventSink>,
    pub(super) max_outcome: usize,
    pub(super) folding: Option<Folding<S>>,
    /// Why the journal's snapshot cannot be one of this flow.
    pub(super) misplaced: Option<String>,
}

impl<S> Default for Extra<S> {
    fn default() -> Self {
        Self {
            id: None,
            sink: None,
            max_outcome: MAX_OUTCOME,
            folding: None,
            misplaced: None,
        }
    }
}

/// When and how to put a snapshot in place of the record.
pub(super) struct Folding<S> {
    pub(super) every: NonZeroU64,
    /// The state as JSON.
    pub(super) write: fn(&S) -> Result<Json, OutcomeProblem>,
}

impl<S> Clone for Folding<S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S> Copy for Folding<S> {}
