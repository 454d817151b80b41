//! From a model's raw text to a typed reply: find the block, guard against hostile YAML, parse, validate.

mod fence;
mod guard;
mod problem;

pub use problem::{ReplyProblem, ReplyProblemKind};

use std::fmt;

use cogwork_plan::{Plan, format_plan_for_prompt};
use serde::{Deserialize, Serialize};

use fence::Block;

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
#[serde(deny_unknown_fields)]
pub struct Reply {
    /// The evaluation of the last thought and the thinking of this one.
    pub current_thinking: String,
    /// The whole updated plan.
    pub planning: Plan,
    /// Whether the reasoning goes on.
    pub next_thought_needed: bool,
}

impl Reply {
    /// Reads a model's raw text of at most `max_bytes`.
    ///
    /// The reply stands in a fence labelled `yaml`, `yml` or not at all, or is the whole text.
    /// Where several fences hold a valid reply the last one counts: a model that gives a second
    /// block has corrected the first.
    ///
    /// # Errors
    ///
    /// A [`ReplyProblem`] with the line and column in `text`, and what would have been accepted.
    /// Anchors, aliases and deep nesting are refused before the YAML library sees the text: it is
    /// quadratic on the one and can blow up on the others, and no reply needs them.
    pub fn read(text: &str, max_bytes: usize) -> Result<Self, ReplyProblem> {
        if text.trim().is_empty() {
            return Err(ReplyProblem::new(
                ReplyProblemKind::Empty,
                "the reply is empty; expected a YAML block",
            ));
        }
        if text.len() > max_bytes {
            let message = format!("the reply is {} bytes long; at most {max_bytes} are read", text.len());
            return Err(ReplyProblem::new(ReplyProblemKind::TooLong, message));
        }
        let mut problem = None;
        for block in fence::blocks(text).into_iter().rev() {
            match Self::read_block(text, block) {
                Ok(reply) => return Ok(reply),
                // Of several blocks that cannot be read, the complaint is about the one meant as a reply.
                Err(found) if problem.is_none() || block.text.contains("current_thinking") => {
                    problem = Some(found)
                }
                Err(_) => {}
            }
        }
        Err(problem.unwrap_or_else(|| {
            let message = "the reply has no YAML block; expected one with the keys `current_thinking`, `planning` and `next_thought_needed`";
            ReplyProblem::new(ReplyProblemKind::NoBlock, message)
        }))
    }

    fn read_block(text: &str, block: Block<'_>) -> Result<Self, ReplyProblem> {
        let at = |kind, line: usize, column, message: String| {
            ReplyProblem::new(kind, message).at(text, block.first_line + line - 1, column)
        };
        guard::check(block.text).map_err(|found| {
            at(ReplyProblemKind::Refused, found.line, found.column, found.message.to_owned())
        })?;
        let reply: Self = serde_yaml::from_str(block.text).map_err(|error| {
            let (line, column) = error.location().map_or((1, 1), |place| (place.line(), place.column()));
            let message = error.to_string();
            let suffix = format!(" at line {line} column {column}");
            at(
                ReplyProblemKind::Invalid,
                line,
                column,
                message.strip_suffix(&suffix).unwrap_or(&message).to_owned(),
            )
        })?;
        let missing = if reply.current_thinking.trim().is_empty() {
            "`current_thinking` is empty; expected the evaluation and the thinking"
        } else if reply.planning.is_empty() {
            "`planning` is empty; expected at least one step"
        } else {
            return Ok(reply);
        };
        Err(at(ReplyProblemKind::Invalid, 1, 1, missing.to_owned()))
    }
}

impl fmt::Display for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        #[derive(Serialize)]
        struct Thinking<'r> {
            current_thinking: &'r str,
        }
        let thinking = serde_yaml::to_string(&Thinking { current_thinking: &self.current_thinking });
        writeln!(f, "```yaml\n{}planning:", thinking.map_err(|_| fmt::Error)?)?;
        for line in format_plan_for_prompt(&self.planning).lines() {
            writeln!(f, "  {line}")?;
        }
        write!(f, "next_thought_needed: {}\n```", self.next_thought_needed)
    }
}
