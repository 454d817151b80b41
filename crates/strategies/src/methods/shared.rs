//! Questions, checks and texts that several methods share.

use cogwork_tools::Tools;
use cogwork_typed::AnswerKey;
use cogwork_typed::ask::{NoAnswer, no_answer};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::solve::ANSWER;
use crate::{Answer, Ask, Solve, Stop};

/// The answer to the problem.
#[derive(Deserialize, JsonSchema)]
pub(super) struct ShortAnswer {
    thought: String,
    /// the answer to the problem, short and complete
    answer: String,
}

/// Asks for the answer, keeps it, and adds it as a thought.
pub(super) fn ask_for_answer(
    cx: &mut Solve,
    stage: &str,
    question: Ask<ShortAnswer>,
) -> Result<String, Stop> {
    let question = question.answering(cx.problem());
    let ShortAnswer { thought, answer } = cx.ask(stage, question)?;

    // Kept before the thought, which a limit may refuse.
    cx.keep(&*answer);
    cx.think(stage, or(&thought, &answer))?;
    Ok(answer)
}

/// Returns the text of the model, or `otherwise` if it wrote none.
pub(super) fn or<'t>(text: &'t str, otherwise: &'t str) -> &'t str {
    if text.is_empty() { otherwise } else { text }
}

/// Ends the run with an answer.
pub(super) fn respond(cx: &mut Solve, answer: String) -> Result<Answer, Stop> {
    cx.think("final_response", &*answer)?;
    Ok(answer.into())
}

/// A check of the answer.
#[derive(Deserialize, JsonSchema)]
struct Verification {
    thought: String,
    /// whether the solution holds
    holds: bool,
    /// the right answer, if it does not hold
    answer: Option<String>,
}

/// Asks the model to check its answer, unless this is switched off. Returns the answer, which is
/// another one if it was wrong.
pub(super) fn verified(
    cx: &mut Solve,
    stage: &str,
    answer: String,
    verification: bool,
) -> Result<String, Stop> {
    if !verification {
        // The table has no way around this stage.
        cx.think(stage, "Not checked.")?;
        return Ok(answer);
    }

    let problem = cx.problem().to_owned();
    let question = Ask::of::<Verification>(cx.prompt(&[stage])?)
        // A model that is free to leave it out does so even if the solution does not hold.
        .narrowed(ANSWER, AnswerKey::wanted)
        .with_offered_answers(&problem)
        .with_check(move |checked| {
            if checked.holds {
                return Ok(());
            }

            let answer = checked.answer.as_deref().unwrap_or_default();
            let expected = "the right answer, since the solution does not hold";
            check_needed(ANSWER, answer, &problem, expected)
        });
    let checked = cx.ask(stage, question)?;

    if checked.holds {
        cx.think(stage, or(&checked.thought, "The solution holds."))?;
        return Ok(answer);
    }

    let corrected = checked.answer.unwrap_or_default();
    // The earlier answer is known to be wrong now.
    cx.keep(&*corrected);
    cx.think(stage, or(&checked.thought, "The solution does not hold."))?;
    Ok(corrected)
}

/// Checks that a field which is only needed sometimes, as `expected` says, has an answer to the
/// problem.
pub(super) fn check_needed(
    field: &str,
    answer: &str,
    problem: &str,
    expected: &str,
) -> Result<(), String> {
    match no_answer(answer, problem) {
        None => Ok(()),
        Some(NoAnswer::Empty) => Err(format!("`{field}` is missing, expected {expected}")),
        Some(reason) => Err(format!("`{field}` {reason}")),
    }
}

/// Describes tools in a text, for models without native tools: a line for each tool, with its name,
/// its description and its schema.
pub(super) fn tool_list(tools: &Tools) -> String {
    let lines = tools.definitions().map(|tool| {
        let (name, description, schema) = (tool.name(), tool.description(), tool.input_schema());
        format!("\n- {name}: {description} Its input is JSON of this schema: {schema}")
    });
    lines.collect()
}
