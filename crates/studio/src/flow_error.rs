use std::fmt::Display;

use cogwork_journal::StoreError;
use cogwork_text::OneLine;
use serde::Serialize;

/// Why a run isn't started, resumed, cancelled or forked.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum FlowError {
    /// There is no flow with this name.
    #[error("there is no flow with this name; expected one of those that are listed")]
    Unknown,
    /// There is no run with this id.
    #[error("there is no run with this id")]
    MissingRun,
    /// The run has ended, so it cannot be cancelled.
    #[error("the run has ended; expected one that runs, waits or was interrupted")]
    Ended,
    /// The flow cannot begin with this input.
    #[error("the input cannot be used: {}", OneLine::new(.0))]
    Input(String),
    /// The store refused.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A fork cannot be made as requested.
    #[error("{}", OneLine::new(problem))]
    ForkRefused {
        /// The part of the request that is at fault.
        part: ForkPart,
        /// The problem.
        problem: String,
    },
    /// The flow could not be opened, or a run of it not be recorded.
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

    /// Hides secrets in the error of a fork, which may quote what was recorded.
    pub(crate) fn hidden(self, hide: impl Fn(&str) -> String) -> Self {
        match self {
            Self::ForkRefused { part, problem } => Self::refused(part, hide(&problem)),
            other => other,
        }
    }
}

/// The part of a fork that is at fault.
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
