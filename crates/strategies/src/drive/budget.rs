use std::fmt;
use std::time::Duration;

use cogwork_text::{Name, OneLine};
use cogwork_typed::ask::Spent;
use serde::{Deserialize, Serialize};

use crate::SessionLimit;

/// The limits of a run. Once one is reached, the run stops and returns the best answer so far and
/// the reason.
///
/// If there is no answer yet, a part of the budget is kept for one last question: when the rest
/// doesn't suffice for the next call, the model is asked for the best answer that follows from the
/// thoughts so far.
///
/// | limit | default |
/// |---|---|
/// | calls to the model | 100 |
/// | tokens, read and written | 500,000 |
/// | bytes of all requests and replies | 64 MiB |
/// | thoughts in the session | 500 |
/// | total time of calls to the model and to tools | 15 minutes |
///
/// The limits on calls, tokens and bytes don't interrupt a running call, but the limit on time does.
/// A turn that has started keeps all its thoughts, even if they exceed the limit.
///
/// The `max_tokens` of each request is lowered to what is left of the tokens and bytes, and a
/// request that doesn't fit isn't sent. Concurrent calls share what is left. If a server counts more
/// tokens than [estimated](cogwork_llm::ChatRequest::estimated_tokens), or writes more than
/// `max_tokens`, a run spends more than its budget, but by no more than the calls that are running
/// at that time, since none follows. A request without `max_tokens` is sent without one while more
/// than [8,192 tokens](cogwork_typed::ask::Allowance::ASSUMED_REPLY_TOKENS) are left for the reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct SolveBudget {
    /// Maximum number of calls to the model, including those that ask for a new reply.
    pub calls: u32,
    /// Maximum number of tokens read and written. They are estimated from the length of the texts
    /// if the server doesn't report them.
    pub tokens: u64,
    /// Maximum number of bytes of all requests and replies. It holds even if a server reports no
    /// tokens, or too few.
    pub bytes: u64,
    /// Maximum number of thoughts on all branches of the session.
    pub thoughts: u32,
    /// Maximum total time of calls to the model and to tools. Concurrent calls count once.
    pub time: Duration,
    /// Whether the model is asked for the best answer so far before the budget is spent. The
    /// default is `true`.
    pub conclude: bool,
    /// Tokens that are kept for the reply to the last question, or `None` to derive them: the
    /// longest of the last eight replies, and at least 256; 512 before the first call. This is at
    /// most a quarter of the budget. The default is `None`.
    pub reserve_tokens: Option<u64>,
    /// Time that is kept for the last question, or `None` to derive it: the average time of a call;
    /// 30 seconds before the first call. This is at most a quarter of the budget. The default is
    /// `None`.
    pub reserve_time: Option<Duration>,
}

impl Default for SolveBudget {
    fn default() -> Self {
        Self {
            calls: 100,
            tokens: 500_000,
            bytes: 64 * 1024 * 1024,
            thoughts: 500,
            time: Duration::from_secs(15 * 60),
            conclude: true,
            reserve_tokens: None,
            reserve_time: None,
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

    /// Sets the maximum number of bytes of all requests and replies.
    #[must_use]
    pub fn with_bytes(self, bytes: u64) -> Self {
        Self { bytes, ..self }
    }

    /// Sets whether the model is asked for the best answer so far before the budget is spent.
    #[must_use]
    pub fn with_conclude(self, conclude: bool) -> Self {
        Self { conclude, ..self }
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

    /// Returns the limit on calls, tokens or bytes that was reached, if any.
    pub(super) fn over_calls(&self, spent: &Spent) -> Option<EndReason> {
        if spent.calls >= self.calls {
            return Some(EndReason::OutOfCalls { limit: self.calls });
        }

        if spent.tokens() >= self.tokens {
            return Some(EndReason::OutOfTokens { limit: self.tokens });
        }

        let limit = self.bytes;
        let is_over = spent.bytes >= limit;
        is_over.then_some(EndReason::OutOfBytes { limit })
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
