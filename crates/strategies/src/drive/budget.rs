use std::fmt;
use std::time::Duration;

use cogwork_ask::Spent;
use cogwork_text::{Name, OneLine};
use serde::{Deserialize, Serialize};

use crate::SessionLimit;

/// The limits of a run. Once one is reached, the run stops and returns the best answer so far and
/// the reason.
///
/// | limit | default |
/// |---|---|
/// | calls to the model | 100 |
/// | tokens, read and written | 500,000 |
/// | thoughts in the session | 500 |
/// | total time of calls to the model and to tools | 15 minutes |
///
/// The limits on calls and tokens don't interrupt a running call, but the limit on time does. A
/// turn that has started keeps all its thoughts, even if they exceed the limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct SolveBudget {
    /// Maximum number of calls to the model, including those that ask for a new reply.
    pub calls: u32,
    /// Maximum number of tokens read and written. They are estimated from the length of the texts
    /// if the server doesn't report them.
    pub tokens: u64,
    /// Maximum number of thoughts on all branches of the session.
    pub thoughts: u32,
    /// Maximum total time of calls to the model and to tools. Concurrent calls count once.
    pub time: Duration,
}

impl Default for SolveBudget {
    fn default() -> Self {
        Self {
            calls: 100,
            tokens: 500_000,
            thoughts: 500,
            time: Duration::from_secs(15 * 60),
        }
    }
}

impl SolveBudget {
    /// Sets the maximum number of calls to the model.
    #[must_use]
    pub fn with_calls(self, calls: u32) -> Self {
        Self { calls, ..self }
    }

    /// Sets the maximum number of tokens.
    #[must_use]
    pub fn with_tokens(self, tokens: u64) -> Self {
        Self { tokens, ..self }
    }

    /// Sets the maximum number of thoughts.
    #[must_use]
    pub fn with_thoughts(self, thoughts: u32) -> Self {
        Self { thoughts, ..self }
    }

    /// Sets the maximum total time of calls.
    #[must_use]
    pub fn with_time(self, time: Duration) -> Self {
        Self { time, ..self }
    }

    /// Returns the limit on time or thoughts that was reached, if any.
    pub(super) fn over(&self, spent: &Spent, thoughts: usize) -> Option<EndReason> {
        if spent.time >= self.time {
            return Some(EndReason::OutOfTime { limit: self.time });
        }

        let limit = self.thoughts;
        let is_over = u32::try_from(thoughts).unwrap_or(u32::MAX) >= limit;
        is_over.then_some(EndReason::OutOfThoughts { limit })
    }

    /// Returns the limit on calls or tokens that was reached, if any.
    pub(super) fn over_calls(&self, spent: &Spent) -> Option<EndReason> {
        if spent.calls >= self.calls {
            return Some(EndReason::OutOfCalls { limit: self.calls });
        }

        let limit = self.tokens;
        let is_over = spent.tokens() >= limit;
        is_over.then_some(EndReason::OutOfTokens { limit })
    }
}

/// Why a run ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "reason", rename_all = "snake_case")]
#[non_exhaustive]
pub enum EndReason {
    /// The strategy reached its final stage.
    Answered,
    /// The maximum number of calls in the [`SolveBudget`] was reached.
    OutOfCalls {
        /// The limit.
        limit: u32,
    },
    /// The maximum number of tokens was reached.
    OutOfTokens {
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
    /// A [limit of the session](crate::SessionLimits) was reached.
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
    /// The driver gave up.
    GaveUp {
        /// The reason.
        why: String,
    },
}

impl fmt::Display for EndReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Answered => f.write_str("answered"),
            Self::OutOfCalls { limit } => write!(f, "the budget of {limit} calls is spent"),
            Self::OutOfTokens { limit } => write!(f, "the budget of {limit} tokens is spent"),
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
