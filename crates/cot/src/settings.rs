use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{Reading, ReplyReader};

/// The limits of a run.
///
/// Before a limit is reached, the model is asked to conclude: when only one more turn fits, that
/// turn asks for the best answer that follows from the thoughts so far. The run then ends with this
/// answer, and [`Reasoning::end_reason`](crate::Reasoning::end_reason) returns the limit. If there
/// is no conclusion, because the call fails, no reply can be used, or not even one more turn fits,
/// the answer is the text of the last thought. If there is no thought either, the run fails. No
/// thought, reply or cost is lost in any of these cases.
///
/// The `max_tokens` of each request is lowered to what is left of the tokens and bytes, and a
/// request that doesn't fit isn't sent. The length of a request is
/// [estimated](crate::ChatRequest::estimated_tokens).
/// If a server counts more tokens than estimated, or writes more than `max_tokens`, a run spends
/// more than the limit, but by no more than one call, since none follows. A request without
/// `max_tokens` is sent without one while more than
/// [8,192 tokens](cogwork_typed::ask::Allowance::ASSUMED_REPLY_TOKENS) are left for the reply, so set one
/// for models that write longer replies.
///
/// ```
/// use std::time::Duration;
/// use cogwork_cot::Limits;
///
/// let limits = Limits::default().with_thoughts(12).with_time(Duration::from_secs(90));
/// assert_eq!(limits.tokens, 1_000_000);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// The maximum number of thoughts, including the conclusion. The default is 50. The step limit
    /// of the flow applies as well.
    pub thoughts: u32,
    /// The maximum number of tokens, read and written, of all thoughts. The default is 1,000,000.
    pub tokens: u64,
    /// The maximum number of bytes of all requests and replies. It holds even if a server reports
    /// no tokens, or too few. The default is 64 MiB.
    pub bytes: u64,
    /// The maximum time of all thoughts in `exec`. The default is one hour.
    pub time: Duration,
    /// Whether the model is asked to conclude before a limit is reached. If not, reaching a limit is
    /// an error. The default is `true`.
    pub conclude: bool,
    /// The number of tokens that are kept for the reply to the last turn, or `None` to derive it:
    /// the longest of the last eight replies, and at least 512; 1,024 before the first thought. This
    /// is at most a quarter of the limit. The default is `None`.
    pub reserve_tokens: Option<u64>,
    /// The time that is kept for the last turn, or `None` to derive it: the longest of the last
    /// eight turns; 30 seconds before the first thought. This is at most a quarter of the limit.
    /// The default is `None`.
    pub reserve_time: Option<Duration>,
    /// How often a turn asks again when a reply cannot be used. The default is 2.
    pub asks_again: u32,
    /// The maximum length of a reply, in bytes. The default is 256 KiB. Reading a reply takes time
    /// proportional to its length, and does not delay a deadline.
    pub reply_bytes: usize,
    /// The maximum number of steps in the plan of a reply, on all levels. The default is 10,000.
    pub reply_steps: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            thoughts: 50,
            tokens: 1_000_000,
            bytes: 64 * 1024 * 1024,
            time: Duration::from_secs(3600),
            conclude: true,
            reserve_tokens: None,
            reserve_time: None,
            asks_again: 2,
            reply_bytes: 256 * 1024,
            reply_steps: 10_000,
        }
    }
}

impl Limits {
    /// Sets the maximum number of thoughts.
    #[must_use]
    pub fn with_thoughts(mut self, thoughts: u32) -> Self {
        self.thoughts = thoughts;
        self
    }

    /// Sets the maximum number of tokens of all thoughts.
    #[must_use]
    pub fn with_tokens(mut self, tokens: u64) -> Self {
        self.tokens = tokens;
        self
    }

    /// Sets the maximum number of bytes of all requests and replies.
    #[must_use]
    pub fn with_bytes(mut self, bytes: u64) -> Self {
        self.bytes = bytes;
        self
    }

    /// Sets the maximum time of all thoughts.
    #[must_use]
    pub fn with_time(mut self, time: Duration) -> Self {
        self.time = time;
        self
    }

    /// Sets whether the model is asked to conclude before a limit is reached.
    #[must_use]
    pub fn with_conclude(mut self, conclude: bool) -> Self {
        self.conclude = conclude;
        self
    }

    /// Sets the number of tokens that are kept for the reply to the last turn.
    #[must_use]
    pub fn with_reserve_tokens(mut self, tokens: u64) -> Self {
        self.reserve_tokens = Some(tokens);
        self
    }

    /// Sets the time that is kept for the last turn.
    #[must_use]
    pub fn with_reserve_time(mut self, time: Duration) -> Self {
        self.reserve_time = Some(time);
        self
    }

    /// Sets how often a turn asks again when a reply cannot be used.
    #[must_use]
    pub fn with_asks_again(mut self, times: u32) -> Self {
        self.asks_again = times;
        self
    }

    /// Returns a reader with these limits.
    pub(crate) fn reader(&self, reading: Reading) -> ReplyReader {
        ReplyReader::default()
            .with_reading(reading)
            .with_max_bytes(self.reply_bytes)
            .with_max_steps(self.reply_steps)
    }
}

/// A limit that was reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", content = "value", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Limit {
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
            Self::Thoughts(thoughts) => write!(f, "{thoughts} thoughts"),
            Self::Tokens(tokens) => write!(f, "{tokens} tokens"),
            Self::Bytes(bytes) => write!(f, "{bytes} bytes"),
            Self::Time(time) => write!(f, "{time:?}"),
        }
    }
}

/// Which earlier thoughts a request contains. It always contains the last plan, and no earlier
/// plans.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum History {
    /// All of them. Each request appends to the previous one, so the server can cache everything
    /// but the last message.
    #[default]
    All,
    /// This number of the newest thoughts.
    Window(usize),
    /// The newest thoughts whose texts have at most this many bytes in total, including what is
    /// shown of their tool calls, and at least the last one.
    Bytes(usize),
}

/// What happens when a reply ends the reasoning while steps of its plan are not done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum EarlyEnd {
    /// Ask about it once in the turn. If the model confirms the end, or if asking fails (unusable
    /// replies, a limit, a failed call), accept the reply and mark the thought.
    #[default]
    Ask,
    /// Accept the reply and mark the thought.
    Accept,
    /// Treat the reply as unusable.
    Refuse,
}
