//! From a model's raw text to a typed reply: find the block, guard against hostile YAML, parse, validate;
//! repair what fails, and say so.

pub(crate) mod bounds;
mod candidates;
mod problem;
mod reader;
mod repair;
mod schema;
mod strict;
mod whole_json;

pub use problem::{Partial, ReplyProblem, ReplyProblemKind};
pub use reader::{Read, Reading, ReplyReader};
pub use repair::{Repair, RepairKind};
pub(crate) use schema::FLAT_LEVELS;
pub use schema::ReplyBounds;

use std::fmt;

use cogwork_plan::{Plan, format_plan_for_prompt};
use schemars::JsonSchema;
use serde::de::{self, Deserializer, Visitor};
use serde::{Deserialize, Serialize};

/// A reply that can be used: the three parts the model was asked for.
///
/// [`read`](Reply::read) takes it out of a model's raw text; `Display` writes it as a model should.
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

impl Reply {
    /// Reads a model's raw text of at most `max_bytes`, without any repair: there is no place here to
    /// report one. [`ReplyReader`] repairs, reports, and has more settings.
    ///
    /// The reply stands in a fence labelled `yaml`, `json` or not at all, is a JSON object in prose, or
    /// is the text from the first line that begins with a key. Of several blocks the last one that
    /// names a key of a reply counts, and no other: a model that gives a second block has taken the
    /// first back.
    ///
    /// # Errors
    ///
    /// A [`ReplyProblem`] with the line and column in `text`, and what would have been accepted.
    /// Anchors, aliases, tags, directives, keys after a `?` and deep nesting are refused before the
    /// YAML library sees the text: it is quadratic on some and can blow up on others, and no reply
    /// needs them. So is a comment behind a text without quotes: ` #` was meant as text.
    pub fn read(text: &str, max_bytes: usize) -> Result<Self, ReplyProblem> {
        let reader = ReplyReader::default()
            .with_reading(Reading::Strict)
            .with_max_bytes(max_bytes);
        reader.read(text).map(|read| read.reply)
    }
}

/// Reads a text that is there: YAML would hand over `null` as the text "null".
fn not_null<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    Option::deserialize(deserializer)?
        .ok_or_else(|| de::Error::custom("current_thinking is null, expected a text"))
}

/// Reads a truth value and, where it is none, says what would be one: `no` and `yes` once were.
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

        // The list stands at the same column as in the prompt, where the plan is shown alone: small
        // models that see it at two mix them up.
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
