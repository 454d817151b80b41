use std::sync::Arc;
use std::time::Duration;

use cogwork_typed::ask::Limits;

use crate::{Recall, Report, ThinkingMode};

/// Receives the report of each generation.
pub(crate) type Reporter = Arc<dyn Fn(&Report) + Send + Sync>;

/// The settings of a [`Thinking`](crate::Thinking).
#[derive(Clone)]
pub(crate) struct Setup {
    pub(crate) modes: Vec<Arc<dyn ThinkingMode>>,
    pub(crate) memory: Option<Recall>,
    pub(crate) limits: Limits,
    pub(crate) tries: u32,
    pub(crate) reporter: Option<Reporter>,
}

impl Default for Setup {
    fn default() -> Self {
        Self {
            modes: Vec::new(),
            memory: None,
            limits: Limits::default()
                .with_calls(32)
                .with_time(Duration::from_secs(300)),
            tries: 2,
            reporter: None,
        }
    }
}
