//! The failure of a node, without its location.

use crate::wrap::RetryError;
use crate::{BoxError, Phase};

/// The failure of a node.
#[derive(Debug)]
pub(crate) struct Failed {
    pub(crate) phase: Phase,
    /// The number of attempts at the phase.
    pub(crate) attempts: u32,
    /// The index of the item of a batch.
    pub(crate) item: Option<usize>,
    pub(crate) source: BoxError,
}

impl Failed {
    pub(crate) fn new(phase: Phase, error: impl Into<BoxError>) -> Self {
        let mut source = error.into();
        let mut attempts = None;

        // Nested retries each add a layer. The outermost count is kept: inner counts may differ
        // between the outer attempts, and only the last would be known.
        loop {
            match source.downcast::<RetryError>() {
                Ok(counted) => {
                    attempts.get_or_insert(counted.attempts);
                    source = counted.error;
                }
                Err(source) => {
                    let attempts = attempts.unwrap_or(1);
                    return Self {
                        phase,
                        attempts,
                        item: None,
                        source,
                    };
                }
            }
        }
    }

    /// Returns the same failure for one item of a batch.
    pub(crate) fn of_item(self, index: usize) -> Self {
        Self {
            item: Some(index),
            ..self
        }
    }
}
