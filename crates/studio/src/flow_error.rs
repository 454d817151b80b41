use std::fmt::Display;

use cogwork_journal::StoreError;
use cogwork_text::OneLine;
use serde::Serialize;

/// An error of [`Flows`](crate::Flows).
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum FlowError {
    /// There is no flow with this name.
    #[error("there is no flow with this name; expected one of those that are listed")]
    Unknown,
    /// The store refused.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The flows don't support forks.
    #[error("runs cannot be forked here")]
    CannotFork,
    /// A fork cannot be made as requested.
    #[error("{}", OneLine::new(problem))]
    ForkRefused {
        /// The part of the request that is at fault.
        part: ForkPart,
        /// The problem.
        problem: String,
    },
    /// The flow could not be loaded or run.
    #[error("{}", OneLine::new(.0))]
    Failed(String),
}

cogwork_text::debug_as_display!(FlowError);

impl FlowError {
    /// Creates the error of a part of a fork.
    pub fn refused(part: ForkPart, problem: impl Display) -> Self {
        Self::ForkRefused {
            part,
            problem: problem.to_string(),
        }
    }
}

/// The part of a [`ForkRequest`](crate::ForkRequest) that is at fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ForkPart {
    /// The step.
    At,
    /// The model.
    Model,
    /// An outcome.
    Outcome,
    /// The state.
    State,
    /// The flow, which has changed.
    Flow,
}
