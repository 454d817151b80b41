//! Code shared by several drivers: questions in the conversation, and the answer, which is kept
//! from the stage in which the model gave it until the last stage.

use cogwork_typed::AnswerKey;
use cogwork_typed::ask::{NoAnswer, is_offered, no_answer};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    Answer, Ask, Done, Next, SolveError, Solving, Stage, StageReply, StageTurn, StageWork,
    ThoughtDraft,
};

/// The note that holds the answer so far, and the field that asks for it.
pub(super) const ANSWER: &str = "answer";

/// The field with the result of a check.
pub(super) const HOLDS: &str = "holds";

/// Returns a question at the end of the conversation so far.
pub(super) fn ask(turn: &StageTurn<'_>, question: impl Into<String>) -> Ask {
    Ask::new(turn.solving.transcript().clone(), question)
}

/// The maximum number of values that are asked for by name.
const MAX_CHOICES: usize = 64;

/// Asks for one of these values, unless there are none or too many.
pub(super) fn choosing<T: Into<Value>>(
    choices: impl IntoIterator<Item = T>,
) -> impl FnOnce(AnswerKey) -> AnswerKey {
    let choices = choices.into_iter().take(MAX_CHOICES + 1).map(Into::into);
    let choices: Vec<Value> = choices.collect();

    move |key| match choices.len() {
        1..=MAX_CHOICES => key.offering(&json!({"enum": choices})),
        _ => key,
    }
}

/// The answer to the problem.
#[derive(Deserialize, JsonSchema)]
struct ShortAnswer {
    thought: String,
    /// the answer to the problem, short and complete
    answer: String,
}

/// Asks for the answer, which has to be one.
pub(super) fn ask_for_answer(turn: &StageTurn<'_>, question: Ask) -> Ask {
    with_answer(turn, question.with_fields_of::<ShortAnswer>())
}

/// Checks that the field `answer` of a question has an answer.
pub(super) fn with_answer(turn: &StageTurn<'_>, question: Ask) -> Ask {
    let problem = turn.solving.problem().to_owned();
    question.with_check(move |reply| check_answer(ANSWER, reply.field(ANSWER), &problem))
}

/// Checks that the value of a field is an answer to the problem.
pub(super) fn check_answer(field: &str, answer: &str, problem: &str) -> Result<(), String> {
    match no_answer(answer, problem) {
        Some(reason) => Err(format!("`{field}` {reason}")),
        None => Ok(()),
    }
}

/// Returns a question in which a text such as `none` is a value of the field, if the problem offers
/// it as a choice.
pub(super) fn with_offered_answers(turn: &StageTurn<'_>, question: Ask, field: &str) -> Ask {
    let problem = turn.solving.problem();
    let is_offered = ["none", "n/a", "na", "null"]
        .iter()
        .any(|word| is_offered(word, problem));

    if is_offered {
        question.with_literal(field)
    } else {
        question
    }
}

/// Returns whether a field of a reply is true.
pub(super) fn says_yes(reply: &StageReply, field: &str) -> bool {
    reply
        .fields
        .get(field)
        .and_then(Value::as_bool)
        .unwrap_or_default()
}

/// Returns the text of a note.
pub(super) fn noted<'s>(solving: &'s Solving, name: &str) -> Option<&'s str> {
    solving.note(name).and_then(Value::as_str)
}

/// Returns the answer so far.
pub(super) fn answered(solving: &Solving) -> Option<Answer> {
    noted(solving, ANSWER).and_then(|answer| answer_if_any(solving, answer))
}

/// Returns an answer, unless the text isn't one.
pub(super) fn answer_if_any(solving: &Solving, text: &str) -> Option<Answer> {
    let is_answer = no_answer(text, solving.problem()).is_none();
    is_answer.then(|| Answer::new(text))
}

/// Returns the last question, unless the model has given an answer.
pub(super) fn conclude_unless(has_answer: bool, solving: &Solving) -> Option<Ask> {
    (!has_answer).then(|| Ask::conclusion(solving))
}

/// Repeats the answer so far.
pub(super) fn say_answer(solving: &Solving) -> StageWork {
    StageWork::say(answered(solving).map_or_else(String::new, |answer| answer.text))
}

/// Keeps the answer of a reply if it has one.
pub(super) fn keep_answer(solving: &mut Solving, answer: &str) {
    if !answer.is_empty() {
        solving.set_note(ANSWER, answer);
    }
}

/// Returns a thought with the text of the model, or with `otherwise` if the model wrote
/// none.
pub(super) fn draft(stage: &Stage, text: &str, otherwise: &str) -> ThoughtDraft {
    let text = if text.is_empty() { otherwise } else { text };
    ThoughtDraft::at(stage.name(), text)
}

/// Adds what was done as a thought, and returns the next stage, as determined by the table or the
/// model.
///
/// # Errors
///
/// Returns an error if the session refuses the thought.
pub(super) fn take_as_it_is(
    solving: &mut Solving,
    stage: &Stage,
    done: &Done,
) -> Result<Next, SolveError> {
    solving.think(done.draft_at(stage))?;
    Ok(done.next_of(stage))
}

/// Keeps the model's answer, and returns the thought with the answer.
pub(super) fn take_answer(solving: &mut Solving, stage: &Stage, done: &Done) -> ThoughtDraft {
    let Some(ShortAnswer { thought, answer }) = done.value() else {
        return done.draft_at(stage);
    };

    keep_answer(solving, &answer);
    draft(stage, &thought, &answer)
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

/// Asks the model to check the answer, and to correct it if it is wrong, unless `verification` is
/// switched off.
pub(super) fn verify(turn: &StageTurn<'_>, verification: bool) -> StageWork {
    if !verification {
        return StageWork::say("Not checked.");
    }

    let problem = turn.solving.problem().to_owned();
    let question = ask(turn, turn.stage.prompt())
        .with_fields_of::<Verification>()
        // A model that is free to leave it out does so even if the solution does not hold.
        .narrowed(ANSWER, AnswerKey::wanted)
        .with_check(move |reply| corrects_what_is_wrong(reply, &problem));
    StageWork::Ask(with_offered_answers(turn, question, ANSWER))
}

fn corrects_what_is_wrong(reply: &StageReply, problem: &str) -> Result<(), String> {
    if says_yes(reply, HOLDS) {
        return Ok(());
    }

    match no_answer(reply.field(ANSWER), problem) {
        None => Ok(()),
        Some(NoAnswer::Empty) => Err(format!(
            "`{ANSWER}` is missing, expected the right answer, since the solution does not hold"
        )),
        Some(reason) => Err(format!("`{ANSWER}` {reason}")),
    }
}

/// Keeps the corrected answer if there is one, and returns the thought that checks it.
pub(super) fn take_verification(solving: &mut Solving, stage: &Stage, done: &Done) -> ThoughtDraft {
    let Some(checked) = done.value::<Verification>() else {
        return done.draft_at(stage);
    };

    if checked.holds {
        return draft(stage, &checked.thought, "The solution holds.");
    }

    keep_answer(solving, &checked.answer.unwrap_or_default());
    draft(stage, &checked.thought, "The solution does not hold.")
}
