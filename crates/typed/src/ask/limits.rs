use std::fmt;
use std::time::Duration;

use cogwork_llm::ChatRequest;
use cogwork_text::counted;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ask::{Spent, seconds};

/// The limits of a run: what it may spend, and what is kept for its conclusion. Those that are
/// `None` have the default of what is run.
///
/// | limit | the loop | a strategy | a typed answer |
/// |---|---|---|---|
/// | calls to the model | unlimited | 100 | unlimited |
/// | tokens, read and written | 1,000,000 | 500,000 | unlimited |
/// | bytes of all requests and replies | 64 MiB | 64 MiB | unlimited |
/// | thoughts | 50, with the conclusion | 500, on all branches | |
/// | time of calls to the model and to tools | one hour | 15 minutes | unlimited |
///
/// **Conclusion.** If only one more call fits into the limits and there is no answer yet, the model
/// is asked for the best answer that follows from the thoughts so far. The run then ends with this
/// answer and the limit. If there is no conclusion, because the call fails or the reply can't be
/// used, it ends with the best answer so far. No thought, reply or cost is lost. For this call, a
/// reserve is kept: the tokens of the longest of the last eight replies, and at least 512; the time
/// of the longest of the last eight turns, or 30 seconds before the first. Both are at most a quarter
/// of the limit. If it takes longer than that, it is interrupted by the limit of time, or by
/// [`hard_time`](Self::hard_time) if that is set. A typed answer has no conclusion.
///
/// **Calls.** The `max_tokens` of each request is lowered to what is left of the tokens and bytes,
/// and a request that doesn't fit isn't sent. Calls that run at the same time share what is left.
/// If a server counts more tokens than [estimated](ChatRequest::estimated_tokens), or writes more
/// than `max_tokens`, a run spends more than its limits, but by no more than the calls that are
/// running at that time, since none follows. A request without `max_tokens` is sent without one
/// while more than 8,192 tokens are left for the reply, so set one for models that write longer
/// replies. Running calls are interrupted by the limit of time only.
///
/// ```
/// use std::time::Duration;
/// use cogwork_typed::ask::Limits;
///
/// let limits = Limits::default().with_tokens(50_000).with_time(Duration::from_secs(90));
/// let read: Limits = serde_json::from_str(r#"{"tokens": 50000, "time": 90}"#).unwrap();
/// assert_eq!(limits, read);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Limits {
    /// The maximum number of calls to the model, including those that ask for a new reply.
    #[schemars(range(min = 1))]
    pub calls: Option<u32>,
    /// The maximum number of tokens, read and written. They are estimated if the server doesn't
    /// report them.
    #[schemars(range(min = 1))]
    pub tokens: Option<u64>,
    /// The maximum number of bytes of all requests and replies. It holds even if a server reports
    /// too few tokens.
    #[schemars(range(min = 1))]
    pub bytes: Option<u64>,
    /// The maximum number of thoughts.
    #[schemars(range(min = 1))]
    pub thoughts: Option<u32>,
    /// The maximum time of calls to the model and to tools, in seconds.
    #[serde(deserialize_with = "seconds::optional")]
    #[schemars(with = "Option<f64>", range(min = 0.001, max = 31_536_000.0))]
    pub time: Option<Duration>,
    /// The time after which the conclusion, or the call for the answer, is interrupted, in seconds.
    /// Default: the limit of time.
    #[serde(deserialize_with = "seconds::optional")]
    #[schemars(with = "Option<f64>", range(min = 0.001, max = 31_536_000.0))]
    pub hard_time: Option<Duration>,
    /// Whether the model is asked for the best answer so far before a limit is reached. Default:
    /// true.
    pub conclude: Option<bool>,
}

impl Limits {
    /// Sets the maximum number of calls to the model.
    #[must_use]
    pub fn with_calls(mut self, calls: u32) -> Self {
        self.calls = Some(calls);
        self
    }

    /// Sets the maximum number of tokens.
    #[must_use]
    pub fn with_tokens(mut self, tokens: u64) -> Self {
        self.tokens = Some(tokens);
        self
    }

    /// Sets the maximum number of bytes of all requests and replies.
    #[must_use]
    pub fn with_bytes(mut self, bytes: u64) -> Self {
        self.bytes = Some(bytes);
        self
    }

    /// Sets the maximum number of thoughts.
    #[must_use]
    pub fn with_thoughts(mut self, thoughts: u32) -> Self {
        self.thoughts = Some(thoughts);
        self
    }

    /// Sets the maximum time of calls.
    #[must_use]
    pub fn with_time(mut self, time: Duration) -> Self {
        self.time = Some(time);
        self
    }

    /// Sets the time after which the conclusion, or the call for the answer, is interrupted.
    #[must_use]
    pub fn with_hard_time(mut self, time: Duration) -> Self {
        self.hard_time = Some(time);
        self
    }

    /// Sets whether the model is asked for the best answer so far before a limit is reached. If
    /// not, reaching a limit is an error in the loop.
    #[must_use]
    pub fn with_conclude(mut self, conclude: bool) -> Self {
        self.conclude = Some(conclude);
        self
    }

    /// Takes the limits that are `None` from `others`.
    #[must_use]
    pub fn or(self, others: Self) -> Self {
        Self {
            calls: self.calls.or(others.calls),
            tokens: self.tokens.or(others.tokens),
            bytes: self.bytes.or(others.bytes),
            thoughts: self.thoughts.or(others.thoughts),
            time: self.time.or(others.time),
            hard_time: self.hard_time.or(others.hard_time),
            conclude: self.conclude.or(others.conclude),
        }
    }

    /// Returns whether the model is asked to conclude.
    pub fn concludes(&self) -> bool {
        self.conclude.unwrap_or(true)
    }

    /// Returns a limit for the steps of a flow that the limit on thoughts ends before. A few steps add
    /// no thought.
    pub fn max_steps(&self) -> u64 {
        let thoughts = self.thoughts.unwrap_or(u32::MAX);
        u64::from(thoughts).saturating_mul(4).max(10_000)
    }

    /// Returns the limit on thoughts or time that was reached, if any.
    pub fn reached(&self, spent: &Spent, thoughts: usize) -> Option<Limit> {
        let thoughts = u32::try_from(thoughts).unwrap_or(u32::MAX);
        let thoughts = self.thoughts.filter(|limit| thoughts >= *limit);
        let time = self.time.filter(|limit| spent.time >= *limit);

        thoughts.map(Limit::Thoughts).or(time.map(Limit::Time))
    }

    /// Returns the limit on calls, tokens or bytes that was reached, if any.
    pub fn reached_by_calls(&self, spent: &Spent) -> Option<Limit> {
        let calls = self.calls.filter(|limit| spent.calls >= *limit);
        let tokens = self.tokens.filter(|limit| spent.tokens() >= *limit);
        let bytes = self.bytes.filter(|limit| spent.bytes >= *limit);

        calls
            .map(Limit::Calls)
            .or(tokens.map(Limit::Tokens))
            .or(bytes.map(Limit::Bytes))
    }

    /// Returns what is kept for the last call. `newest` are the tokens and the time of the newest
    /// replies, newest first.
    pub fn reserve(&self, newest: impl Iterator<Item = (u64, Duration)>) -> Reserve {
        let longest = newest
            .take(NEWEST)
            .reduce(|one, other| (one.0.max(other.0), one.1.max(other.1)));
        let (tokens, time) = longest.unwrap_or((LEAST_TOKENS, FIRST_TIME));

        let part = self.tokens.unwrap_or(u64::MAX) / u64::from(PART);
        Reserve {
            tokens: tokens.max(LEAST_TOKENS).min(part),
            time: time.min(self.time.unwrap_or(Duration::MAX) / PART),
            read: None,
        }
    }
}

/// The minimum number of tokens that are kept, unless the limit is low.
const LEAST_TOKENS: u64 = 512;
/// The time that is kept before the first call.
const FIRST_TIME: Duration = Duration::from_secs(30);
/// The number of the newest replies that are taken into account.
const NEWEST: usize = 8;
/// The part of a limit that is kept at most.
const PART: u32 = 4;

/// What is kept of the limits for the last call, in which the model is asked to conclude.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reserve {
    /// The tokens of the reply.
    pub tokens: u64,
    /// The time of the call.
    pub time: Duration,
    /// The tokens that the last request reads. `None` if it repeats the request before it and the
    /// reply.
    pub(super) read: Option<u64>,
}

impl Reserve {
    /// Sets the last request, if it doesn't repeat the one before it.
    #[must_use]
    pub fn with_request(mut self, request: &ChatRequest) -> Self {
        self.read = Some(request.estimated_tokens());
        self
    }
}

/// A limit that was reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", content = "value", rename_all = "snake_case")]
pub enum Limit {
    /// The number of calls to the model.
    Calls(u32),
    /// The number of thoughts.
    Thoughts(u32),
    /// The number of tokens.
    Tokens(u64),
    /// The number of bytes.
    Bytes(u64),
    /// The time.
    Time(Duration),
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Calls(calls) => f.write_str(&counted(calls, "call")),
            Self::Thoughts(thoughts) => f.write_str(&counted(thoughts, "thought")),
            Self::Tokens(tokens) => f.write_str(&counted(tokens, "token")),
            Self::Bytes(bytes) => f.write_str(&counted(bytes, "byte")),
            Self::Time(time) => write!(f, "{time:?}"),
        }
    }
}
