use std::fmt;

use cogwork_plan::{Plan, format_plan_for_prompt};
use schemars::JsonSchema;
use serde::de::{self, Deserializer, Visitor};
use serde::{Deserialize, Serialize};

/// A usable reply: the three parts that the model was asked for.
///
/// [`read`](Reply::read) reads it from the raw text of a model; `Display` writes it as a model should.
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
/// ```", 4096)?;
/// assert_eq!(reply.planning.steps()[0].result.as_deref(), Some("4"));
/// assert_eq!(Reply::read(&reply.to_string(), 4096)?, reply);
/// # Ok::<(), cogwork_cot::ReplyProblem>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    expecting = "a mapping with the keys current_thinking, planning and next_thought_needed"
)]
#[schemars(description = "One thought: an evaluation, a step of work, and the plan.")]
pub struct Reply {
    /// The evaluation of the last thought and the thinking of this one.
    #[serde(deserialize_with = "not_null")]
    pub current_thinking: String,
    /// The whole updated plan.
    pub planning: Plan,
    /// Whether the reasoning goes on.
    #[serde(deserialize_with = "true_or_false")]
    pub next_thought_needed: bool,
}

/// Reads a text and rejects `null`, which YAML would read as the text "null".
fn not_null<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    Option::deserialize(deserializer)?
        .ok_or_else(|| de::Error::custom("current_thinking is null, expected a text"))
}

/// Reads a truth value. The error shows what would be accepted, since `no` and `yes` once were.
fn true_or_false<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    struct TrueOrFalse;

    impl Visitor<'_> for TrueOrFalse {
        type Value = bool;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("true or false")
        }

        fn visit_bool<E>(self, value: bool) -> Result<bool, E> {
            Ok(value)
        }
    }

    deserializer.deserialize_bool(TrueOrFalse)
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
