use std::sync::LazyLock;

use cogwork_llm::FinishReason;
use cogwork_plan::Step;
use cogwork_typed::ask::{Format, Repair, RepairKind};
use cogwork_typed::{
    AnswerProblem, AnswerProblemKind as Kind, AnswerReader, GrowingText, ReadAnswer,
};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::types::{Reply, ReplyWith};

/// A usable reply, and how it was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Read {
    /// The reply.
    #[serde(flatten)]
    pub reply: Reply,
    /// The repairs, in the order of the lines; empty for a well-formed reply.
    pub repairs: Vec<Repair>,
}

static REPLY: LazyLock<AnswerReader<Reply>> = LazyLock::new(AnswerReader::new);
static REPLY_WITH_CALLS: LazyLock<AnswerReader<ReplyWith<Value>>> =
    LazyLock::new(AnswerReader::new);

/// Returns the text of the thinking of a reply that hasn't begun.
pub(crate) fn growing_thinking() -> GrowingText<Reply> {
    GrowingText::new(REPLY.clone(), "current_thinking")
}

impl Reply {
    /// Reads the raw text of a model, of at most 256 KiB, and repairs a malformed reply.
    ///
    /// The reply is in a fence that is labelled `yaml` or `json` or has no label, or a JSON object in
    /// prose, or the text from the first line that begins with a key. Thinking in `<think>` tags is
    /// skipped. If there are several blocks, the last one counts, because a model that starts over has
    /// abandoned what it wrote before.
    ///
    /// A malformed reply is repaired if its meaning is unambiguous, and every repair is reported. A
    /// step without a status is pending, and the last of two equal keys counts. Another missing part,
    /// or an unrecognizable status or truth value, remains an error.
    ///
    /// ```
    /// use cogwork_cot::Reply;
    ///
    /// let text = "current_thinking: x\nplanning:\n- description: Add\n  status: done\nnext_thought_needed: no\n";
    /// let read = Reply::read(text)?;
    /// assert!(!read.reply.next_thought_needed);
    /// assert_eq!(read.repairs.len(), 2);
    /// # Ok::<(), cogwork_typed::AnswerProblem>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns the line in `text`, what is wrong there, and what is expected instead. The line is 0 if
    /// the reply as a whole is meant.
    pub fn read(text: &str) -> Result<Read, AnswerProblem> {
        read_reply(text, &FinishReason::Stop, Format::Text, false)
    }
}

/// Reads a reply, given the reason why the model stopped. If the model didn't finish, the reply only
/// counts as complete if a bracket or a fence closes it, because YAML that was cut off can still be
/// valid. Problems ask for the `format`, and any is read. `may_have_calls` accepts a list of tool
/// calls that is empty.
pub(crate) fn read_reply(
    text: &str,
    reason: &FinishReason,
    format: Format,
    may_have_calls: bool,
) -> Result<Read, AnswerProblem> {
    let needs_end = *reason != FinishReason::Stop;
    let read = match may_have_calls {
        false => read_as(&REPLY, text, needs_end),
        true => read_as(&REPLY_WITH_CALLS, text, needs_end),
    };

    match read {
        Ok(read) => checked(text, read),
        Err(problem) => Err(unreadable(&problem, reason, format)),
    }
}

/// Checks what the types don't tell.
fn checked(text: &str, read: ReadAnswer<Reply>) -> Result<Read, AnswerProblem> {
    let mut reply = read.value;
    let mut repairs = read.repairs;

    if reply.current_thinking.trim().is_empty() {
        let message = "`current_thinking` is empty; expected the evaluation and the thinking";
        return Err(AnswerProblem::new(Kind::Mismatch, 0, message));
    }

    let left_out = drop_loops(reply.planning.steps_mut());
    if left_out > 0 {
        // Steps have no lines, and the loop may go through all of the plan.
        let line = text.lines().position(|line| line.contains("planning"));
        let what = format!("left out {left_out} repetitions of the same step");
        let line = line.unwrap_or_default() + 1;
        repairs.push(Repair::new(RepairKind::Repetition, line, what));
    }

    // Syntax is read before shape, so that they come in two sequences.
    repairs.sort_by_key(|repair| repair.line);
    Ok(Read { reply, repairs })
}

/// Returns the problem of a text that can't be read.
fn unreadable(problem: &AnswerProblem, reason: &FinishReason, format: Format) -> AnswerProblem {
    let wanted = match format.is_json() {
        true => "JSON object",
        false => "YAML block",
    };
    // Why the model stopped explains more than what can't be read for it.
    if let Kind::CutOff | Kind::NoValue | Kind::Empty = problem.kind()
        && *reason != FinishReason::Stop
    {
        let message = match reason {
            FinishReason::Length => {
                "the reply was cut off at the limit of tokens; expected a shorter one".to_owned()
            }
            _ => format!(
                "the model was stopped ({reason:?}) before its reply was whole; expected a whole {wanted}"
            ),
        };
        return AnswerProblem::new(Kind::CutOff, 0, message);
    }

    match problem.kind() {
        Kind::Empty => {
            let message = format!("the reply is empty; expected a {wanted}");
            AnswerProblem::new(Kind::Empty, 0, message)
        }
        Kind::NoValue | Kind::Declined => {
            let message = format!(
                "the reply has no {wanted}; expected one with the keys `current_thinking`, `planning` and `next_thought_needed`"
            );
            AnswerProblem::new(Kind::NoValue, problem.line(), message)
        }
        _ => in_one_message(problem),
    }
}

/// Returns a problem with its pointer in the message, as complaints have it.
pub(super) fn in_one_message(problem: &AnswerProblem) -> AnswerProblem {
    let message = match problem.pointer() {
        "" => problem.message().to_owned(),
        pointer => format!("`{pointer}`: {}", problem.message()),
    };
    AnswerProblem::new(problem.kind(), problem.line(), message)
}

/// Returns the thinking of an unusable reply, as far as it goes.
pub(crate) fn thinking_so_far(text: &str) -> Option<String> {
    REPLY.growing_text(text, "current_thinking")
}

fn read_as<T: JsonSchema + DeserializeOwned + Into<Reply>>(
    reader: &AnswerReader<T>,
    text: &str,
    needs_end: bool,
) -> Result<ReadAnswer<Reply>, AnswerProblem> {
    let read = match needs_end {
        false => reader.read(text),
        true => reader.clone().with_closed_value().read(text),
    }?;
    Ok(read.map(Into::into))
}

/// The number of equal steps in a row that is treated as a loop of the model. Two or three equal
/// steps can be intended, but hardly this many.
const LOOP: usize = 10;

/// Keeps only the first of many equal steps in a row. Returns how many were removed.
fn drop_loops(steps: &mut Vec<Step>) -> usize {
    // From the inside, since steps are only equal once the loops in them are gone.
    let inside: usize = steps
        .iter_mut()
        .map(|step| drop_loops(&mut step.sub_steps))
        .sum();

    let before = steps.len();
    let runs = steps.chunk_by(|step, next| step == next);
    let kept = runs.flat_map(|run| match run {
        [first, ..] if run.len() >= LOOP => std::slice::from_ref(first),
        run => run,
    });
    *steps = kept.cloned().collect();
    inside + before - steps.len()
}
