use std::fmt;

use cogwork_plan::{Plan, format_plan_for_prompt};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A usable reply: the three parts that the model was asked for.
///
/// [`read`](Self::read) reads it from the raw text of a model; `Display` writes it as a model should.
///
/// ```
/// use cogwork_cot::Reply;
///
/// let reply = Reply::read("\
/// Here is my thought.
/// ```yaml
/// current_thinking: Two and two make four.
/// planning:
///   - description: Add
///     status: Done
///     result: 4
/// next_thought_needed: false
/// ```")?.reply;
/// assert_eq!(reply.planning.steps()[0].result.as_deref(), Some("4"));
/// assert_eq!(Reply::read(&reply.to_string())?.reply, reply);
/// # Ok::<(), cogwork_typed::AnswerProblem>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Reply {
    /// The evaluation of the last thought and the thinking of this one.
    #[schemars(length(min = 1))]
    pub current_thinking: String,
    /// The whole updated plan.
    #[schemars(length(min = 1))]
    pub planning: Plan,
    /// Whether the reasoning goes on.
    pub next_thought_needed: bool,
}

/// A reply with a list of tool calls, which is empty if there is a plan.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(bound(deserialize = "Call: Deserialize<'de>"))]
pub(crate) struct ReplyWith<Call> {
    /// The evaluation of the last thought and the thinking of this one.
    #[schemars(length(min = 1))]
    current_thinking: String,
    /// The tools to call first. If there are any, planning is empty.
    #[serde(default)]
    #[expect(dead_code, reason = "calls are read first")]
    tool_calls: Vec<Call>,
    /// The whole updated plan.
    #[schemars(length(min = 1))]
    planning: Plan,
    /// Whether the reasoning goes on.
    next_thought_needed: bool,
}

impl<Call> From<ReplyWith<Call>> for Reply {
    fn from(reply: ReplyWith<Call>) -> Self {
        Self {
            current_thinking: reply.current_thinking,
            planning: reply.planning,
            next_thought_needed: reply.next_thought_needed,
        }
    }
}

/// A reply that may have tool calls in place of a plan. Its other parts are read later.
#[derive(Debug, Deserialize, JsonSchema)]
#[expect(dead_code, reason = "the keys tell that a block is a reply")]
pub(crate) struct WithCalls {
    current_thinking: Option<Value>,
    #[serde(default)]
    pub(crate) tool_calls: Vec<Call>,
    planning: Option<Value>,
    next_thought_needed: Option<Value>,
}

/// The form of a reply with tool calls in place of a plan.
#[derive(Debug, Deserialize, JsonSchema)]
#[expect(dead_code, reason = "it is read as calls")]
pub(crate) struct ThoughtAndCalls {
    /// The evaluation of the last thought and the thinking of this one.
    #[schemars(length(min = 1))]
    current_thinking: String,
    #[schemars(length(min = 1, max = 16))]
    tool_calls: Vec<Call>,
}

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Call {
    pub(crate) name: String,
    /// An object is asked for, and the tool refuses another value. Models know the other names from
    /// other programs.
    #[serde(default, alias = "arguments", alias = "parameters")]
    #[schemars(with = "Map<String, Value>", description = "")]
    pub(crate) input: Value,
}

/// A tool call for servers that support no objects with any keys.
#[derive(Debug, Deserialize, JsonSchema)]
#[expect(dead_code, reason = "it is read as `Call`")]
pub(crate) struct FlatCall {
    name: String,
    /// The input as a JSON object, as text.
    input: String,
}

impl fmt::Display for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        #[derive(Serialize)]
        struct Thinking<'r> {
            current_thinking: &'r str,
        }

        let thinking = serde_yaml::to_string(&Thinking {
            current_thinking: &self.current_thinking,
        });

        // The list has the same column as in the prompt, where the plan is shown alone. Small models mix
        // them up otherwise.
        let plan = format_plan_for_prompt(&self.planning);
        let gap = if self.planning.is_empty() { " " } else { "\n" };
        write!(
            f,
            "```yaml\n{}planning:{gap}{plan}\nnext_thought_needed: {}\n```",
            thinking.map_err(|_| fmt::Error)?,
            self.next_thought_needed
        )
    }
}
