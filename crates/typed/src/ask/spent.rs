use std::fmt;
use std::ops::AddAssign;
use std::time::Duration;

use cogwork_llm::{ChatRequest, ChatResponse, Usage};
use cogwork_text::counted;
use serde::{Deserialize, Serialize};

use crate::ask::seconds;

/// The calls to models and tools so far, and their tokens, bytes and time.
///
/// ```
/// use cogwork_typed::ask::Meter;
/// use cogwork_llm::{ChatRequest, ChatResponse, Message, Usage};
///
/// let request = ChatRequest::new([Message::user("2 + 2?")]);
/// let response = ChatResponse::new("4").with_usage(Usage::new(12, 1));
///
/// let meter = Meter::default();
/// meter.begin(&request).end(&response);
/// assert_eq!(meter.spent().to_string(), "1 call, 13 tokens");
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Spent {
    /// The number of calls to a model.
    #[serde(skip_serializing_if = "is_zero")]
    pub calls: u32,
    /// The number of calls to tools, including those that failed.
    #[serde(skip_serializing_if = "is_zero")]
    pub tool_calls: u32,
    /// The tokens that servers reported.
    pub usage: Usage,
    /// The estimated tokens of calls without reported usage.
    pub estimated_tokens: u64,
    /// The bytes of all texts read and written by models.
    #[serde(skip_serializing_if = "is_zero")]
    pub bytes: u64,
    /// The time spent in calls to models and tools. Concurrent calls count once.
    #[serde(rename = "seconds", with = "seconds")]
    pub time: Duration,
}

impl Spent {
    /// Returns the number of tokens read and written, reported and estimated.
    pub fn tokens(&self) -> u64 {
        let reported = self.usage.total_tokens();
        reported.saturating_add(self.estimated_tokens)
    }

    /// Returns whether nothing has been spent.
    pub fn is_zero(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the cost of a call, without its time.
    pub(super) fn of_call(request: &ChatRequest, response: Option<&ChatResponse>) -> Self {
        let mut spent = Self {
            calls: 1,
            ..Self::default()
        };
        if let Some(response) = response {
            spent.count_tokens(request, response);
        }
        spent
    }

    /// Adds the bytes of a call, and its tokens: those that the server reported, or an estimate.
    pub(super) fn count_tokens(&mut self, request: &ChatRequest, response: &ChatResponse) {
        let bytes = request.bytes().saturating_add(response.bytes());
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        self.bytes = self.bytes.saturating_add(bytes);

        // Some servers report zero for values that they don't count.
        let reported = response.usage().filter(|usage| usage.total_tokens() > 0);

        if let Some(usage) = reported {
            self.usage += usage;
            return;
        }

        let read = request.estimated_tokens();
        let written = response.estimated_tokens();
        let estimated = read.saturating_add(written);
        self.estimated_tokens = self.estimated_tokens.saturating_add(estimated);
    }
}

impl AddAssign for Spent {
    fn add_assign(&mut self, other: Self) {
        self.calls = self.calls.saturating_add(other.calls);
        self.tool_calls = self.tool_calls.saturating_add(other.tool_calls);
        self.usage += other.usage;
        self.estimated_tokens = self.estimated_tokens.saturating_add(other.estimated_tokens);
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.time = self.time.saturating_add(other.time);
    }
}

impl fmt::Display for Spent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_estimated = self.estimated_tokens > 0;
        let about = if is_estimated { "about " } else { "" };

        let calls = counted(self.calls, "call");
        write!(f, "{calls}, {about}{} tokens", self.tokens())?;

        if self.tool_calls > 0 {
            write!(f, ", {}", counted(self.tool_calls, "tool call"))?;
        }

        Ok(())
    }
}

fn is_zero<N: Default + PartialEq>(number: &N) -> bool {
    *number == N::default()
}
