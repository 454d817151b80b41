use std::sync::Arc;

use super::budget::Budget;
use super::named_step::Attached;

/// The part of a run that every visit gets.
pub(crate) struct Context {
    pub(crate) budget: Budget,
    /// `None` in most runs.
    pub(crate) attached: Option<Arc<Attached>>,
}
