use std::fmt;
use std::time::Duration;

use crate::{Reading, ReplyReader};

/// Where a run of thoughts ends even without a conclusion.
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
    /// The most thoughts. Default: 50. A flow's own limit of steps holds beside it.
    pub thoughts: u32,
    /// The most tokens, read and written, over all thoughts; looked at before each request, so
    /// the last one may pass it. Default: 1,000,000.
    pub tokens: u64,
    /// The most time in `exec`, over all thoughts. Default: one hour.
    pub time: Duration,
    /// How often a turn asks again when a reply cannot be used. Default: 2.
    pub asks_again: u32,
    /// The longest reply that is read, in bytes. Default: 256 KiB. Reading takes time in proportion to
    /// the reply, whatever it says, and a deadline is met while a long one is read.
    pub reply_bytes: usize,
    /// The most steps of a reply's plan, on all levels. Default: 10,000.
    pub reply_steps: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            thoughts: 50,
            tokens: 1_000_000,
            time: Duration::from_secs(3600),
            asks_again: 2,
            reply_bytes: 256 * 1024,
            reply_steps: 10_000,
        }
    }
}

impl Limits {
    /// Sets the most thoughts.
    #[must_use]
    pub fn with_thoughts(mut self, thoughts: u32) -> Self {
        self.thoughts = thoughts;
        self
    }

    /// Sets the most tokens over all thoughts.
    #[must_use]
    pub fn with_tokens(mut self, tokens: u64) -> Self {
        self.tokens = tokens;
        self
    }

    /// Sets the most time over all thoughts.
    #[must_use]
    pub fn with_time(mut self, time: Duration) -> Self {
        self.time = time;
        self
    }

    /// Sets how often a turn asks again when a reply cannot be used.
    #[must_use]
    pub fn with_asks_again(mut self, times: u32) -> Self {
        self.asks_again = times;
        self
    }

    /// Sets the longest reply that is read, in bytes.
    #[must_use]
    pub fn with_reply_bytes(mut self, bytes: usize) -> Self {
        self.reply_bytes = bytes;
        self
    }

    /// Sets the most steps of a reply's plan.
    #[must_use]
    pub fn with_reply_steps(mut self, steps: usize) -> Self {
        self.reply_steps = steps;
        self
    }

    /// What reads a reply within these limits.
    pub(crate) fn reader(&self, reading: Reading) -> ReplyReader {
        ReplyReader::default()
            .with_reading(reading)
            .with_max_bytes(self.reply_bytes)
            .with_max_steps(self.reply_steps)
    }
}

/// A limit that was reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Limit {
    /// So many thoughts were made.
    Thoughts(u32),
    /// So many tokens were used.
    Tokens(u64),
    /// So much time was spent.
    Time(Duration),
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Thoughts(thoughts) => write!(f, "{thoughts} thoughts"),
            Self::Tokens(tokens) => write!(f, "{tokens} tokens"),
            Self::Time(time) => write!(f, "{time:?}"),
        }
    }
}

/// Which earlier thoughts a request carries. The last plan always travels, earlier ones never do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum History {
    /// All of them: each request only appends to the one before, so that a server's prompt cache
    /// has all but the last message.
    #[default]
    All,
    /// The last so many.
    Window(usize),
    /// The newest ones whose text comes to at most so many bytes, and always the last one.
    Bytes(usize),
}

/// What happens when a reply ends the reasoning while steps of its plan are not done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum EarlyEnd {
    /// Ask about it once in the turn. Accept it, and mark the thought, if the model stays with it or
    /// the question brings nothing that can be used, be it for replies, a limit, or a failed call.
    #[default]
    Ask,
    /// Accept it and mark the thought.
    Accept,
    /// Treat it as a reply that cannot be used.
    Refuse,
}
