use std::fmt;

use cogwork_text::{Name, OneLine};
use cogwork_typed::ask::Limit;
use serde::{Deserialize, Serialize};

use crate::SessionLimit;

/// Why a run ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "reason", rename_all = "snake_case")]
#[non_exhaustive]
pub enum EndReason {
    /// The strategy reached its final stage.
    Answered,
    /// A limit was reached.
    OutOf {
        /// The limit.
        limit: Limit,
    },
    /// A [limit of the session](crate::SessionPolicy) was reached.
    SessionFull {
        /// The limit.
        limit: SessionLimit,
        /// The value of the limit.
        most: usize,
    },
    /// The thoughts repeated.
    NoProgress {
        /// The stage in which the repetition was detected.
        stage: String,
        /// The number of repetitions.
        times: u32,
    },
    /// The strategy gave up.
    GaveUp {
        /// The reason.
        why: String,
    },
}

impl fmt::Display for EndReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Answered => f.write_str("answered"),
            Self::OutOf { limit } => write!(f, "the budget of {limit} is spent"),
            Self::SessionFull { limit, most } => {
                write!(f, "the session has reached its limit of {most} {limit}")
            }
            Self::NoProgress { stage, times } => {
                write!(
                    f,
                    "no progress: the thoughts repeated {times} times up to the stage `{}`",
                    Name(stage)
                )
            }
            Self::GaveUp { why } => write!(f, "given up: {}", OneLine::new(why)),
        }
    }
}
