//! Questions that several methods share: for the answer, and for a check of it.

use cogwork_typed::AnswerKey;
use cogwork_typed::ask::{NoAnswer, no_answer};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::solve::ANSWER;
use crate::{Ask, Solve, Stop};

/// The answer to the problem.
#[derive(Deserialize, JsonSchema)]
pub(super) struct ShortAnswer {
    pub(super) thought: String,
    /// the answer to the problem, short and complete
    pub(super) answer: String,
}

/// Asks for the answer, keeps it, and adds it as a thought.
pub(super) fn ask_for_answer(cx: &mut Solve, stage: &str, question: &str) -> Result<String, Stop> {
    let question = Ask::of::<ShortAnswer>(question).answering(cx.problem());
    let ShortAnswer { thought, answer } = cx.ask(stage, question)?;

    cx.keep(&*answer);
    cx.think(stage, or(&thought, &answer))?;
    Ok(answer)
}

/// Returns the text of the model, or `otherwise` if it wrote none.
pub(super) fn or<'t>(text: &'t str, otherwise: &'t str) -> &'t str {
    if text.is_empty() { otherwise } else { text }
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
        cx.think(stage, "Not checked.")?;
        return Ok(answer);
    }

    let problem = cx.problem().to_owned();
    let question = Ask::of::<Verification>(cx.prompt(&[stage])?)
        // A model that is free to leave it out does so even if the solution does not hold.
        .narrowed(ANSWER, AnswerKey::wanted)
        .with_offered_answers(&problem)
        .with_check(move |checked| checked.corrects_what_is_wrong(&problem));
    let checked = cx.ask(stage, question)?;

    if checked.holds {
        cx.think(stage, or(&checked.thought, "The solution holds."))?;
        return Ok(answer);
    }

    let corrected = checked.answer.unwrap_or_default();
    cx.keep(&*corrected);
    cx.think(stage, or(&checked.thought, "The solution does not hold."))?;
    Ok(corrected)
}

impl Verification {
    fn corrects_what_is_wrong(&self, problem: &str) -> Result<(), String> {
        if self.holds {
            return Ok(());
        }

        match no_answer(self.answer.as_deref().unwrap_or_default(), problem) {
            None => Ok(()),
            Some(NoAnswer::Empty) => Err(format!(
                "`{ANSWER}` is missing, expected the right answer, since the solution does not hold"
            )),
            Some(reason) => Err(format!("`{ANSWER}` {reason}")),
        }
    }
}
