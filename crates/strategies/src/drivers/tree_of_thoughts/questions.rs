//! The questions for the model, and the scores in its replies. Each question is preceded only by
//! the problem, and contains everything that it needs from its branch.

use serde_json::Value;

use super::approach;
use super::names::{APPROACHES, SCORE};
use super::settings::{TreeOfThoughts, Worth};
use super::tree::Tree;
use crate::drivers::answering::{ask, ask_for_answer_as, says_yes};
use crate::{Ask, BranchId, Narrowing, Parameter, ParameterType, StageReply, StageTurn};

/// The field with the proposed steps.
pub(super) const PROPOSALS: &str = "proposals";

/// The field that is true if a branch contains the complete solution.
const SOLVED: &str = "solved";

/// Asks for approaches.
pub(super) fn approaches(settings: &TreeOfThoughts, turn: &StageTurn<'_>) -> Ask {
    let question = match settings.approaches {
        1 => "Name the approach that promises most, and how much it does, from 0 to 10.".to_owned(),
        several => {
            format!(
                "Name {several} approaches that differ, and how much each promises, from 0 to 10."
            )
        }
    };

    let ask = ask(turn, question).with_fields(turn.stage.parameters().get_key_value(APPROACHES));
    let all = Narrowing::max_items(settings.approaches).with_min_items(settings.approaches);
    ask.narrowed(APPROACHES, all).with_check(has_approaches)
}

fn has_approaches(reply: &StageReply) -> Result<(), String> {
    if approach::approaches(reply.fields.get(APPROACHES)).is_empty() {
        return Err(format!(
            "`{APPROACHES}` has none with an id and a description"
        ));
    }

    Ok(())
}

/// Asks for the next step of a branch, or for several from which to choose.
pub(super) fn development(
    settings: &TreeOfThoughts,
    turn: &StageTurn<'_>,
    tree: &Tree<'_>,
    branch: BranchId,
) -> Ask {
    let steps = numbered(&tree.steps(branch));
    let most = settings.proposals;

    if most == 1 {
        let question = format!(
            "The way so far:\n{steps}\n\nTake the next step on this way. One step only, with what it gives."
        );
        return ask(turn, question).with_name(tree.name(branch));
    }

    let question = format!(
        "The way so far:\n{steps}\n\nPropose up to {most} different next steps. Each is one step only, on one \
         line, with what it gives. If no step is left to take, write `none`."
    );
    let list = ParameterType::List {
        items: Box::new(ParameterType::TEXT),
        min_items: 0,
    };
    let proposals = Parameter::new(list, "the steps, each in the place of the others");

    // An approach has at least one step, but models leave the list empty if they may.
    let is_new = tree.steps(branch).len() == 1;
    let few = Narrowing::max_items(most).with_min_items(usize::from(is_new));

    ask(turn, question)
        .with_name(tree.name(branch))
        .with_field(PROPOSALS, proposals)
        .narrowed(PROPOSALS, few)
}

/// Asks for the score of a branch.
pub(super) fn value(turn: &StageTurn<'_>, tree: &Tree<'_>, branch: BranchId) -> Ask {
    let steps = numbered(&tree.steps(branch));
    let question = format!(
        "A way to the solution, as far as it was gone:\n{steps}\n\nJudge it: are the steps right, and can they \
         lead to a solution? 0 means that they cannot, 10 that they surely do."
    );

    let solved = "whether the steps hold the whole solution already";
    ask(turn, question)
        .with_name(tree.name(branch))
        .with_fields(turn.stage.parameters().get_key_value(SCORE))
        .with_field(SOLVED, Parameter::new(ParameterType::Boolean, solved))
}

/// Asks for the solution that follows from the steps of the current branch.
pub(super) fn solution(turn: &StageTurn<'_>, tree: &Tree<'_>) -> Ask {
    let steps = numbered(&tree.steps(turn.solving.session().current()));
    let question =
        format!("The best way that was found:\n{steps}\n\nPut its steps together into a solution.");
    let answer = Parameter::text("the answer, short and complete");
    ask_for_answer_as(turn, ask(turn, question), answer)
}

/// Returns the approach and the steps as a numbered list.
fn numbered(steps: &[&str]) -> String {
    let line = |number: usize, step: &str| format!("{number}. {step}");
    let lines: Vec<String> = (1..)
        .zip(steps)
        .map(|(number, step)| line(number, step))
        .collect();
    lines.join("\n")
}

/// The score of a branch, with the reason.
pub(super) struct Judged {
    /// The reason in the words of the model, which may be empty.
    pub(super) text: String,
    pub(super) worth: Worth,
}

/// Returns the score in a reply.
pub(super) fn judged(reply: &StageReply) -> Judged {
    let score = reply.fields.get(SCORE).and_then(Value::as_f64);
    let worth = Worth::new(rounded(score.unwrap_or_default()));
    Judged {
        text: reply.text.clone(),
        worth: worth.or_solved(says_yes(reply, SOLVED)),
    }
}

/// Rounds to hundredths, since scores aren't more precise.
fn rounded(score: f64) -> f64 {
    (score * 100.0).round() / 100.0
}
