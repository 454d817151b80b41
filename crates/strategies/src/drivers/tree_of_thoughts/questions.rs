//! What the model is asked, and what its replies are worth. Every question stands behind the problem alone:
//! it tells of the branch what is needed and of the others nothing.

use serde_json::Value;

use super::settings::{TreeOfThoughts, Worth};
use super::tree::Tree;
use crate::{Ask, AskProblem, Asked, BranchId, Parameter, ParameterType, Reply, Turn};

pub(super) const PROPOSALS: &str = "proposals";
const SCORE: &str = "evaluation_score";
const SOLVED: &str = "solved";
const CHOICE: &str = "choice";

fn ask(turn: &Turn<'_>, question: String) -> Ask {
    Ask::new(turn.solving.transcript().clone(), question)
}

/// A parameter of the stage's table.
fn field(turn: &Turn<'_>, name: &str) -> impl Iterator<Item = (String, Parameter)> {
    turn.stage.parameters().get(name).map(|parameter| (name.to_owned(), parameter.clone())).into_iter()
}

fn solved() -> Parameter {
    Parameter::new(ParameterType::Boolean, "whether the steps hold the whole solution already")
}

/// The approach and the steps, numbered.
fn told(steps: &[&str]) -> String {
    let lines = (1..).zip(steps).map(|(number, step): (usize, _)| format!("{number}. {step}"));
    lines.collect::<Vec<_>>().join("\n")
}

pub(super) fn approaches(settings: &TreeOfThoughts, turn: &Turn<'_>) -> Ask {
    let question = match settings.approaches {
        1 => "Name the approach that promises most, and how much it does, from 0 to 10.".to_owned(),
        several => {
            format!("Name {several} approaches that differ, and how much each promises, from 0 to 10.")
        }
    };
    ask(turn, question).with_fields(field(turn, "approaches")).with_check(|reply| {
        match super::tree::approaches(reply.fields.get("approaches")).is_empty() {
            true => Err("`approaches` has none with an id and a description".to_owned()),
            false => Ok(()),
        }
    })
}

pub(super) fn development(
    settings: &TreeOfThoughts,
    turn: &Turn<'_>,
    tree: &Tree<'_>,
    branch: BranchId,
) -> Ask {
    let so_far = format!("The way so far:\n{}", told(&tree.steps(branch)));
    let most = settings.proposals;
    if most == 1 {
        let question =
            format!("{so_far}\n\nTake the next step on this way. One step only, with what it gives.");
        return ask(turn, question).named(tree.name(branch));
    }
    let question = format!(
        "{so_far}\n\nPropose up to {most} different next steps. Each is one step only, on one line, with what it \
         gives. If no step is left to take, write `none`."
    );
    let items = Box::new(ParameterType::Text { choices: Vec::new() });
    let proposals = Parameter::new(
        ParameterType::List { items, min_items: 0 },
        "the steps, each in the place of the others",
    );
    ask(turn, question).named(tree.name(branch)).with_field(PROPOSALS, proposals)
}

pub(super) fn value(turn: &Turn<'_>, tree: &Tree<'_>, branch: BranchId) -> Ask {
    let question = format!(
        "A way to the solution, as far as it was gone:\n{}\n\nJudge it: are the steps right, and can they lead to a \
         solution? 0 means that they cannot, 10 that they surely do.",
        told(&tree.steps(branch))
    );
    ask(turn, question).named(tree.name(branch)).with_fields(field(turn, SCORE)).with_field(SOLVED, solved())
}

pub(super) fn vote(turn: &Turn<'_>, tree: &Tree<'_>, branches: &[BranchId]) -> Ask {
    let way = |(number, branch): (usize, &BranchId)| format!("Way {number}:\n{}", told(&tree.steps(*branch)));
    let ways: Vec<_> = (1..).zip(branches).map(way).collect();
    let question = format!(
        "Ways to the solution, as far as they were gone.\n\n{}\n\nJudge them, and choose the one that is most likely \
         to lead to a solution.",
        ways.join("\n\n")
    );
    #[expect(clippy::cast_precision_loss, reason = "there are at most a thousand branches")]
    let choice = ParameterType::Integer { min: Some(1.0), max: Some(branches.len() as f64) };
    ask(turn, question)
        .with_field(CHOICE, Parameter::new(choice, "the number of the way that is chosen"))
        .with_field(
            SOLVED,
            Parameter::new(ParameterType::Boolean, "whether it holds the whole solution already"),
        )
}

pub(super) fn solution(turn: &Turn<'_>, tree: &Tree<'_>) -> Ask {
    let question = format!(
        "The best way that was found:\n{}\n\nPut its steps together into a solution.",
        told(&tree.steps(turn.solving.session().current()))
    );
    ask(turn, question).with_field(super::ANSWER, Parameter::text("the answer, short and complete"))
}

/// What a branch was found to be worth, and why.
pub(super) type Judged = (String, Worth);

fn replies(asked: &[Asked]) -> impl Iterator<Item = &Reply> {
    asked.iter().filter_map(|asked| asked.reply.as_ref().ok())
}

fn problem(asked: &[Asked]) -> AskProblem {
    let problem = asked.iter().find_map(|asked| asked.reply.as_ref().err());
    problem.cloned().unwrap_or(AskProblem::NotNeeded)
}

fn says_solved(reply: &Reply) -> bool {
    reply.fields.get(SOLVED).and_then(Value::as_bool).unwrap_or_default()
}

/// Values of one branch: their mean, with the words of the first; solved where most say so.
pub(super) fn valued(asked: &[Asked]) -> Result<Judged, AskProblem> {
    let scores: Vec<f64> = replies(asked).filter_map(|reply| reply.fields.get(SCORE)?.as_f64()).collect();
    let Some(first) = replies(asked).next().filter(|_| !scores.is_empty()) else {
        return Err(problem(asked));
    };
    let solved = replies(asked).filter(|reply| says_solved(reply)).count() * 2 > scores.len();
    #[expect(clippy::cast_precision_loss, reason = "there are at most twenty values")]
    let mean = scores.iter().sum::<f64>() / scores.len() as f64;
    Ok((first.text.clone(), Worth::new(rounded(mean)).or_solved(solved)))
}

/// Votes on all branches: of each its share of ten.
pub(super) fn voted(asked: &[Asked], branches: usize) -> Vec<Result<Judged, AskProblem>> {
    // As a number with or without a fraction of zero, which are both integers.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it was checked to be an integer from 1 to the number of branches"
    )]
    let choice = |reply: &Reply| reply.fields.get(CHOICE)?.as_f64().map(|choice| choice as usize);
    let votes: Vec<(usize, bool)> =
        replies(asked).filter_map(|reply| Some((choice(reply)?, says_solved(reply)))).collect();
    if votes.is_empty() {
        return (0..branches).map(|_| Err(problem(asked))).collect();
    }
    let worth = |branch: usize| {
        let mine: Vec<bool> =
            votes.iter().filter(|(choice, _)| *choice == branch).map(|(_, solved)| *solved).collect();
        let solved = mine.iter().filter(|solved| **solved).count() * 2 > mine.len();
        #[expect(clippy::cast_precision_loss, reason = "there are at most twenty votes")]
        let share = 10.0 * mine.len() as f64 / votes.len() as f64;
        Ok((
            format!("{} of {} votes.", mine.len(), votes.len()),
            Worth::new(rounded(share)).or_solved(solved),
        ))
    };
    (1..=branches).map(worth).collect()
}

/// To hundredths, which is finer than any of them is meant.
fn rounded(score: f64) -> f64 {
    (score * 100.0).round() / 100.0
}
