//! Writes for people: the sentences of thoughts and conclusions, and the reply around them.

use cogwork_plan::Plan;
use serde::Serialize;

use super::evaluate::{Failure, Outcome};
use super::expression::Expr;
use super::number::{full_text, value_text};
use super::words::{Reading, Unreadable};

/// How to have a real model in place of this backend. Said in the first thought, and in a
/// conclusion that has no answer because of what this backend cannot do; an answer is the whole text.
const NAMING: &str =
    "To ask a real model, set OPENAI_BASE_URL and OPENAI_MODEL (and OPENAI_API_KEY where needed).";

/// How a thought begins that evaluates the one before; its number and a colon follow.
pub(super) const EVALUATION: &str = "Evaluation of thought ";

/// The longest expression, in characters, that a conclusion repeats.
const MAX_REPEATED: usize = 200;

/// What the first thought says about itself; of a mistake only where one will be made.
pub(super) fn notice(slips: bool) -> String {
    let mistake = if slips {
        " I make one mistake on purpose, for a later thought to find and repair."
    } else {
        ""
    };
    format!("I am a rule-based stand-in and no language model.{mistake}\n{NAMING}")
}

/// One turn of the loop, before it is written.
pub(super) struct Turn {
    pub(super) thinking: String,
    pub(super) plan: Plan,
    pub(super) next_thought_needed: bool,
}

#[derive(Serialize)]
struct Reply<'a> {
    current_thinking: String,
    planning: &'a Plan,
    next_thought_needed: bool,
}

/// The reply as the loop asks for it: YAML in a fence.
pub(super) fn reply(turn: &Turn) -> Result<String, serde_yaml::Error> {
    let yaml = serde_yaml::to_string(&Reply {
        // The line break at the end makes it a literal block, `|`, even when it is one line.
        current_thinking: format!("{}\n", turn.thinking),
        planning: &turn.plan,
        next_thought_needed: turn.next_thought_needed,
    })?;
    Ok(format!("```yaml\n{yaml}```"))
}

/// The result of the conclusion's step.
pub(super) fn answer(reading: &Reading, outcome: &Outcome) -> String {
    match outcome {
        Ok(value) => format!("{}{}", value_text(value), reading.unit),
        Err(failure) => format!("{} {failure}", repeated(&reading.expression)),
    }
}

/// The solution: the answer and nothing else, or what this backend cannot do.
pub(super) fn solution(reading: &Reading, outcome: &Outcome) -> String {
    let expr = &reading.expression;
    let value = match outcome {
        Ok(value) => value,
        Err(failure @ Failure::DivisionByZero) => return format!("{} {failure}.", repeated(expr)),
        Err(failure @ (Failure::FractionalExponent | Failure::TooLarge)) => {
            return format!("{} {failure}.\n{NAMING}", repeated(expr));
        }
    };

    let text = expr.to_string();
    let unspaced = text.replace(' ', "");
    let shortest = value_text(value);
    let fraction = expr.divides() && unspaced != value.to_string();
    let exact = if fraction {
        full_text(value)
    } else {
        shortest.clone()
    };

    match &reading.subject {
        Some(subject) => {
            format!(
                "{subject} {}{}: {} = {exact}.",
                value_text(value),
                reading.unit,
                repeated(expr)
            )
        }
        None if text == exact || text.chars().count() > MAX_REPEATED => {
            format!("The value is {exact}.")
        }
        // `10 / 3 = 10/3 ≈ 3.333333` would say the same twice.
        None => match exact
            .strip_prefix(&unspaced)
            .filter(|rest| rest.starts_with(" ≈ "))
        {
            Some(approximation) => format!("{text}{approximation}."),
            None => format!("{text} = {exact}."),
        },
    }
}

/// The conclusion about a problem that was not read.
pub(super) fn refusal(why: &Unreadable) -> String {
    format!(
        "I cannot answer this problem: {why}. I read expressions such as (17 + 4) * 3 or 15% of 80, and stories \
         about the distance that something goes.\n{NAMING}"
    )
}

fn repeated(expr: &Expr) -> String {
    let text = expr.to_string();
    if text.chars().count() <= MAX_REPEATED {
        text
    } else {
        "The expression".to_owned()
    }
}
