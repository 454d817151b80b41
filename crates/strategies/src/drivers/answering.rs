//! What several drivers do alike: keep the answer from the stage where the model gave it to the final one,
//! and have it checked.

use serde_json::Value;

use crate::{Answer, Ask, Draft, Parameter, ParameterType, Reply, Solving, Stage, Turn, Work};

/// The note with the answer as it stands, and the field that asks for it.
pub(super) const ANSWER: &str = "answer";

/// Asks for the answer.
pub(super) fn answer_field() -> Parameter {
    Parameter::text("the answer to the problem, short and complete")
}

/// The answer as it stands.
pub(super) fn answered(solving: &Solving) -> Option<Answer> {
    solving.note(ANSWER).and_then(Value::as_str).filter(|answer| !answer.is_empty()).map(Answer::new)
}

/// The stages that repeat the answer.
pub(super) fn say_answer(solving: &Solving) -> Work {
    Work::say(answered(solving).map_or_else(String::new, |answer| answer.text))
}

/// Keeps the answer of a reply, if it has one.
pub(super) fn keep_answer(solving: &mut Solving, reply: &Reply) {
    let answer = reply.field(ANSWER);
    if !answer.is_empty() {
        solving.set_note(ANSWER, answer);
    }
}

/// A thought with what the model thought, or else what the driver says of it.
pub(super) fn draft(stage: &Stage, thought: &str, or: impl Into<String>) -> Draft {
    Draft::at(stage.name(), if thought.is_empty() { or.into() } else { thought.to_owned() })
}

const HOLDS: &str = "holds";

/// Has the answer checked, and corrected where it is wrong.
pub(super) fn verification(turn: &Turn<'_>) -> Work {
    let corrected = Parameter::text("the right answer, if it does not hold").optional();
    Work::Ask(
        Ask::new(turn.solving.transcript().clone(), turn.stage.prompt())
            .with_field(HOLDS, Parameter::new(ParameterType::Boolean, "whether the solution holds"))
            .with_field(ANSWER, corrected)
            .with_check(|reply| match (holds(reply), reply.field(ANSWER)) {
                (false, "") => Err(format!(
                    "`{ANSWER}` is missing, expected the right answer, since the solution does not hold"
                )),
                _ => Ok(()),
            }),
    )
}

/// What of a check is thought; a correction becomes the answer.
pub(super) fn verified(solving: &mut Solving, stage: &Stage, reply: &Reply) -> Draft {
    if holds(reply) {
        return draft(stage, &reply.text, "The solution holds.");
    }
    keep_answer(solving, reply);
    draft(stage, &reply.text, "The solution does not hold.")
}

fn holds(reply: &Reply) -> bool {
    reply.fields.get(HOLDS).and_then(Value::as_bool).unwrap_or_default()
}
