//! The settings of a solver.

use std::sync::Arc;

use cogwork_tools::Tools;
use cogwork_typed::ask::Limits;

use super::questions::Questions;
use super::{Driver, SolveOptions};
use crate::Strategy;

/// What all stages of a solver share.
#[derive(Clone)]
pub(super) struct Shared {
    pub(super) driver: Arc<dyn Driver>,
    pub(super) strategy: Strategy,
    pub(super) questions: Questions,
    pub(super) tools: Tools,
    pub(super) limits: Limits,
}

impl Shared {
    /// Returns the settings of a run with these options.
    pub(super) fn with_options(self: &Arc<Self>, options: &SolveOptions) -> Arc<Self> {
        if options.is_empty() {
            return Arc::clone(self);
        }

        let mut shared = Self::clone(self);
        shared.limits = options.limits.or(shared.limits);
        if let Some(request) = &options.request {
            shared.questions.request = request.clone();
        }
        if let Some(client) = &options.client {
            shared.questions.set_client(Arc::clone(client));
        }

        Arc::new(shared)
    }
}
