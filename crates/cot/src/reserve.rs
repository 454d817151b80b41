//! What is kept of the limits for the last turn, in which the model is asked to conclude.

use std::time::Duration;

use crate::{Limits, Thought};

/// What is kept for the last turn.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reserve {
    /// The tokens of the reply.
    pub(crate) tokens: u64,
    pub(crate) time: Duration,
}

/// The tokens of the reply before the first thought.
const TOKENS: u64 = 512;
/// The least tokens of the reply, unless the limit is low.
const LEAST_TOKENS: u64 = 512;
/// The time before the first thought.
const TIME: Duration = Duration::from_secs(30);
/// The number of the newest thoughts that are taken into account.
const NEWEST: usize = 8;
/// The part of a limit that is kept at most.
const PART: u32 = 4;

impl Reserve {
    pub(crate) fn new(limits: &Limits, thoughts: &[Thought]) -> Self {
        let newest = || thoughts.iter().rev().take(NEWEST);

        let written = newest().map(written_tokens).max();
        let written = written.map_or(TOKENS, |tokens| tokens.max(LEAST_TOKENS));
        let tokens = written.min(limits.tokens / u64::from(PART));

        let longest = newest().map(|thought| thought.trace().spent.time).max();
        let time = longest.unwrap_or(TIME).min(limits.time / PART);

        Self {
            tokens: limits.reserve_tokens.unwrap_or(tokens),
            time: limits.reserve_time.unwrap_or(time),
        }
    }
}

/// Returns the tokens of a reply of the turn.
fn written_tokens(thought: &Thought) -> u64 {
    let trace = thought.trace();
    let calls = u64::from(trace.spent.calls.max(1));
    let reported = trace.spent.usage.completion_tokens / calls;

    let bytes = trace.tries.last().map_or(0, |last| last.reply.len());
    let estimated = u64::try_from(bytes / 4).unwrap_or(u64::MAX);

    reported.max(estimated)
}

/// Returns the tokens of a prompt of the turn, as the server counted them.
pub(crate) fn read_tokens(thought: &Thought) -> u64 {
    let spent = thought.trace().spent;
    spent.usage.prompt_tokens / u64::from(spent.calls.max(1))
}
