use std::fmt;
use std::time::Duration;

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
    /// The maximum number of calls in the [limits](cogwork_typed::ask::Limits) was reached.
    OutOfCalls {
        /// The limit.
        limit: u32,
    },
    /// The maximum number of tokens was reached.
    OutOfTokens {
        /// The limit.
        limit: u64,
    },
    /// The maximum number of bytes was reached.
    OutOfBytes {
        /// The limit.
        limit: u64,
    },
    /// The maximum number of thoughts was reached.
    OutOfThoughts {
        /// The limit.
        limit: u32,
    },
    /// The maximum time was reached.
    OutOfTime {
        /// The limit.
        limit: Duration,
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

impl From<Limit> for EndReason {
    fn from(limit: Limit) -> Self {
        match limit {
            Limit::Calls(limit) => Self::OutOfCalls { limit },
            Limit::Tokens(limit) => Self::OutOfTokens { limit },
            Limit::Bytes(limit) => Self::OutOfBytes { limit },
            Limit::Thoughts(limit) => Self::OutOfThoughts { limit },
            Limit::Time(limit) => Self::OutOfTime { limit },
        }
    }
}

impl fmt::Display for EndReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Answered => f.write_str("answered"),
            Self::OutOfCalls { limit } => write!(f, "the budget of {limit} calls is spent"),
            Self::OutOfTokens { limit } => write!(f, "the budget of {limit} tokens is spent"),
            Self::OutOfBytes { limit } => write!(f, "the budget of {limit} bytes is spent"),
            Self::OutOfThoughts { limit } => write!(f, "the budget of {limit} thoughts is spent"),
            Self::OutOfTime { limit } => write!(f, "the budget of {limit:?} is spent"),
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
