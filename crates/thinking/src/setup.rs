use std::sync::Arc;

use crate::{ModeLimits, Recall, Report, ThinkingMode};

/// Receives the report of each generation.
pub(crate) type Reporter = Arc<dyn Fn(&Report) + Send + Sync>;

/// The settings of a [`Thinking`](crate::Thinking).
#[derive(Clone, Default)]
pub(crate) struct Setup {
    pub(crate) modes: Vec<Arc<dyn ThinkingMode>>,
    pub(crate) memory: Option<Recall>,
    pub(crate) limits: ModeLimits,
    pub(crate) reporter: Option<Reporter>,
}
