//! From a model's raw text to a typed reply: find the block, guard against hostile YAML, parse, validate.

mod fence;
pub(crate) mod guard;
mod problem;

pub use problem::{ReplyProblem, ReplyProblemKind};

use std::fmt;

use cogwork_llm::FinishReason;
use cogwork_plan::{Plan, format_plan_for_prompt};
use serde::de::{Deserializer, Visitor};
use serde::{Deserialize, Serialize};

use crate::complaint::{Complaint, without_places};

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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "a mapping with the keys current_thinking, planning and next_thought_needed"
)]
pub struct Reply {
    /// The evaluation of the last thought and the thinking of this one.
    pub current_thinking: String,
    /// The whole updated plan.
    pub planning: Plan,
    /// Whether the reasoning goes on.
    #[serde(deserialize_with = "true_or_false")]
    pub next_thought_needed: bool,
}

impl Reply {
    /// Reads a model's raw text of at most `max_bytes`.
    ///
    /// The reply stands in a fence labelled `yaml`, `yml` or not at all, or is the whole text.
    /// Of several fences the last one that names a key of a reply counts, and no other: a model that
    /// gives a second block has taken the first back.
    ///
    /// # Errors
    ///
    /// A [`ReplyProblem`] with the line and column in `text`, and what would have been accepted.
    /// Anchors, aliases, tags, directives, keys after a `?` and deep nesting are refused before the
    /// YAML library sees the text: it is quadratic on some and can blow up on others, and no reply
    /// needs them. So is a comment behind a text without quotes: ` #` was meant as text.
    pub fn read(text: &str, max_bytes: usize) -> Result<Self, ReplyProblem> {
        if text.len() > max_bytes {
            let message = format!("the reply is {} bytes long; at most {max_bytes} are read", text.len());
            return Err(ReplyProblem::new(ReplyProblemKind::TooLong, message));
        } else if text.trim().is_empty() {
            let message = "the reply is empty; expected a YAML block";
            return Err(ReplyProblem::new(ReplyProblemKind::Empty, message));
        }
        let Some(block) = fence::meant(text) else {
            let message = "the reply has no YAML block; expected one with the keys `current_thinking`, `planning` and `next_thought_needed`";
            let beginning = text.len() - text.trim_start().len();
            let complaint = Complaint::new(message).at(text, beginning);
            return Err(ReplyProblem::from(ReplyProblemKind::NoBlock, complaint));
        };
        Self::read_block(block.text).map_err(|Fault { kind, message, offset }| {
            ReplyProblem::from(kind, Complaint::quoting(&message).at(text, block.offset + offset))
        })
    }

    /// The same for a text of which is known why the model stopped: unless it was done, the reply is
    /// whole only if a fence closes it. YAML that is cut off can still be YAML.
    pub(crate) fn read_finished(
        text: &str,
        max_bytes: usize,
        reason: &FinishReason,
    ) -> Result<Self, ReplyProblem> {
        let closed = || text.len() <= max_bytes && fence::meant(text).is_some_and(|block| block.closed);
        let message = match reason {
            FinishReason::Stop => return Self::read(text, max_bytes),
            _ if closed() => return Self::read(text, max_bytes),
            FinishReason::Length => {
                "the reply was cut off at the limit of tokens; expected a shorter one".to_owned()
            }
            _ => format!(
                "the model was stopped ({reason:?}) before the block of its reply was closed; expected a block with a fence at its end"
            ),
        };
        Err(ReplyProblem::from(ReplyProblemKind::CutOff, Complaint::quoting(&message)))
    }

    fn read_block(block: &str) -> Result<Self, Fault> {
        guard::check(block).map_err(|refusal| Fault {
            kind: ReplyProblemKind::Refused,
            message: refusal.message.to_owned(),
            offset: refusal.offset,
        })?;
        let invalid = |message: String, offset| Fault { kind: ReplyProblemKind::Invalid, message, offset };
        let reply: Self = serde_yaml::from_str(block).map_err(|error| {
            let offset = error.location().map_or(0, |place| place.index());
            let message = without_places(&error.to_string());
            let advice = advice(&message);
            invalid(message + advice, offset)
        })?;
        let (key, fault) = if reply.current_thinking.trim().is_empty() {
            ("current_thinking", "`current_thinking` is empty; expected the evaluation and the thinking")
        } else if reply.planning.is_empty() {
            ("planning", "`planning` is empty; expected at least one step")
        } else {
            return Ok(reply);
        };
        Err(invalid(fault.to_owned(), line_of(block, key)))
    }
}

/// What is wrong with a block, and where in it, in bytes.
struct Fault {
    kind: ReplyProblemKind,
    message: String,
    offset: usize,
}

/// What to do about the mistakes that models make most; the YAML library names them in its own terms.
fn advice(message: &str) -> &'static str {
    let known = [
        ("mapping values are not allowed", "; put a text that contains `: ` in quotes"),
        (
            "did not find expected key",
            "; check the indentation, and put a text that begins with quotes in quotes",
        ),
        ("found character that cannot start any token", "; put the text in quotes"),
        ("could not find expected ':'", "; expected `key: value`, and the lines of a text indented"),
        ("found unexpected end of stream", "; a quote is not closed"),
    ];
    known.into_iter().find(|(mistake, _)| message.starts_with(mistake)).map_or("", |(_, advice)| advice)
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

/// Where the line begins that holds a key of the top level.
fn line_of(block: &str, key: &str) -> usize {
    let mut offset = 0;
    for line in block.split_inclusive('\n') {
        if line.starts_with(key) {
            return offset;
        }
        offset += line.len();
    }
    0
}

impl fmt::Display for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        #[derive(Serialize)]
        struct Thinking<'r> {
            current_thinking: &'r str,
        }
        let thinking = serde_yaml::to_string(&Thinking { current_thinking: &self.current_thinking });
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
