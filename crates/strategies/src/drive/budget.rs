use std::fmt;
use std::time::Duration;

use cogwork_ask::Spent;
use cogwork_text::{Name, OneLine};
use serde::{Deserialize, Serialize};

/// How much solving a problem may cost. When it is spent, the run ends in good order, with the best answer
/// so far and the reason.
///
/// | what | default |
/// |---|---|
/// | calls of the model | 100 |
/// | tokens read and written | 500,000 |
/// | thoughts in the session | 500 |
/// | time of calls to the model and to tools | 15 minutes |
///
/// A call that has begun is not cut short by the limits of calls and tokens; by that of time it is. A turn
/// that has begun keeps all its thoughts, such as one for each of several paths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct SolveBudget {
    /// Calls of the model, those that ask again among them.
    pub calls: u32,
    /// Tokens read and written, guessed from the length of the texts where a server does not say.
    pub tokens: u64,
    /// Thoughts in the session, on all branches.
    pub thoughts: u32,
    /// Time of calls to the model and to tools; calls side by side count once.
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
    /// Another limit of calls.
    #[must_use]
    pub fn with_calls(self, calls: u32) -> Self {
        Self { calls, ..self }
    }

    /// Another limit of tokens.
    #[must_use]
    pub fn with_tokens(self, tokens: u64) -> Self {
        Self { tokens, ..self }
    }

    /// Another limit of thoughts.
    #[must_use]
    pub fn with_thoughts(self, thoughts: u32) -> Self {
        Self { thoughts, ..self }
    }

    /// Another limit of time.
    #[must_use]
    pub fn with_time(self, time: Duration) -> Self {
        Self { time, ..self }
    }

    /// What is over, if something is: time and thoughts end a run wherever it stands, calls and tokens
    /// only where the model is to be called.
    pub(super) fn over(
        &self,
        spent: &Spent,
        thoughts: usize,
        calls_model: bool,
    ) -> Option<EndReason> {
        if spent.time >= self.time {
            return Some(EndReason::OutOfTime { limit: self.time });
        } else if u32::try_from(thoughts).unwrap_or(u32::MAX) >= self.thoughts {
            return Some(EndReason::OutOfThoughts {
                limit: self.thoughts,
            });
        }

        if calls_model {
            self.over_calls(spent)
        } else {
            None
        }
    }

    pub(super) fn over_calls(&self, spent: &Spent) -> Option<EndReason> {
        if spent.calls >= self.calls {
            Some(EndReason::OutOfCalls { limit: self.calls })
        } else if spent.tokens() >= self.tokens {
            Some(EndReason::OutOfTokens { limit: self.tokens })
        } else {
            None
        }
    }
}

/// Why a run ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "reason", rename_all = "snake_case")]
#[non_exhaustive]
pub enum EndReason {
    /// The strategy reached its final stage.
    Answered,
    /// The calls of the [`SolveBudget`] are spent.
    OutOfCalls {
        /// How many there were.
        limit: u32,
    },
    /// The tokens are spent.
    OutOfTokens {
        /// How many there were.
        limit: u64,
    },
    /// There are as many thoughts as may be.
    OutOfThoughts {
        /// How many that are.
        limit: u32,
    },
    /// The time is over.
    OutOfTime {
        /// How much there was.
        limit: Duration,
    },
    /// The run goes in circles.
    NoProgress {
        /// The stage in which that was seen.
        stage: String,
        /// How often the same had come in a row.
        times: u32,
    },
    /// The driver sees no way to go on.
    GaveUp {
        /// Why.
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
            Self::NoProgress { stage, times } => {
                write!(
                    f,
                    "no progress: the same came {times} times in a row up to the stage `{}`",
                    Name(stage)
                )
            }
            Self::GaveUp { why } => write!(f, "given up: {}", OneLine::new(why)),
        }
    }
}
