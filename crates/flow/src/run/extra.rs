use std::num::NonZeroU64;
use std::sync::Arc;

use crate::EventSink;
use crate::journal::{Json, OutcomeProblem};

/// Settings that few runs have.
pub(super) struct Extra<S> {
    pub(super) id: Option<Arc<str>>,
    /// The sink of events, until the run has started.
    pub(super) sink: Option<EventSink>,
    pub(super) folding: Option<Folding<S>>,
    /// Serialises the state, until the journal has accepted it.
    pub(super) first_state: Option<WriteState<S>>,
    /// Why the journal's snapshot doesn't belong to this flow.
    pub(super) misplaced: Option<String>,
}

impl<S> Default for Extra<S> {
    fn default() -> Self {
        Self {
            id: None,
            sink: None,
            folding: None,
            first_state: None,
            misplaced: None,
        }
    }
}

/// Serialises a state. Returns `None` if it cannot be written as JSON.
pub(super) type WriteState<S> = fn(&S) -> Option<Json>;

/// When and how to replace the record with a snapshot.
pub(super) struct Folding<S> {
    pub(super) every: NonZeroU64,
    /// Serialises the state.
    pub(super) write: fn(&S) -> Result<Json, OutcomeProblem>,
}

impl<S> Clone for Folding<S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S> Copy for Folding<S> {}
