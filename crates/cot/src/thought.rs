use cogwork_plan::Plan;
use cogwork_typed::ask::{Format, FormatRefusal, Spent, ToolUse, Try};
use serde::{Deserialize, Serialize};

use crate::Reply;
use cogwork_typed::ask::Repair;

/// The result of one turn, and how it was reached.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Thought {
    /// The number of the thought, from 1.
    pub thought_number: u32,
    /// The evaluation of the previous thought and the thinking of this one.
    pub current_thinking: String,
    /// The plan after this thought.
    pub planning: Plan,
    /// Whether another thought is needed after this one.
    pub next_thought_needed: bool,
    /// How the thought was reached: every raw reply, the repairs, and the cost.
    #[serde(default, skip_serializing_if = "Trace::is_empty")]
    pub trace: Trace,
}

impl Thought {
    /// Creates a thought from a reply.
    pub fn new(thought_number: u32, reply: Reply, trace: Trace) -> Self {
        let Reply {
            current_thinking,
            planning,
            next_thought_needed,
        } = reply;
        Self {
            thought_number,
            current_thinking,
            planning,
            next_thought_needed,
            trace,
        }
    }
}

/// How a thought was reached.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Trace {
    /// Every reply of the turn, in order. The reply without a complaint and without
    /// [tool calls](Self::tool_calls) became the thought. If there is none, the thought is the early
    /// end that the model was asked about, or the thinking of a conclusion that was cut off.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tries: Vec<Try>,
    /// Every tool call of the turn, in the order in which the model requested them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ToolUse>,
    /// The cost of the turn, including all tries, tool calls, and the attempts of a `retry` of the
    /// flow that failed.
    #[serde(skip_serializing_if = "Spent::is_zero")]
    pub spent: Spent,
    /// Whether the thought ends the reasoning while steps of its plan are not done.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub ended_early: bool,
    /// The repairs of the reply that became the thought.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub repairs: Vec<Repair>,
    /// The form in which the last reply was requested.
    #[serde(skip_serializing_if = "Format::is_default")]
    pub format: Format,
    /// The forms that the server refused in this turn, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub refusals: Vec<FormatRefusal>,
}

impl Trace {
    /// Returns the tokens of a reply of the turn, as the server counted them, or as estimated.
    pub(crate) fn written_tokens(&self) -> u64 {
        let reported = self.spent.usage.completion_tokens / self.calls();
        // Some servers report no tokens, or too few.
        let bytes = self.tries.last().map_or(0, |last| last.reply.len());
        reported.max(u64::try_from(bytes / 4).unwrap_or(u64::MAX))
    }

    /// Returns the tokens of a prompt of the turn, as the server counted them.
    pub(crate) fn read_tokens(&self) -> u64 {
        // Every call of a turn reads about the same conversation.
        self.spent.usage.prompt_tokens / self.calls()
    }

    fn calls(&self) -> u64 {
        self.spent.calls.max(1).into()
    }

    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
