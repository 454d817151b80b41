//! The questions for the model, and the scores in its replies. Each question is preceded only by
//! the problem, and contains everything that it needs from its branch.

use schemars::JsonSchema;
use serde::Deserialize;

use super::approach;
use super::settings::{TreeOfThoughts, Worth};
use super::tree::Leaf;
use super::{APPROACHES, SCORE};
use crate::solve::ANSWER;
use crate::{Ask, AskProblem, Parameter, ParameterType, Stage, StageReply};

const PROPOSALS: &str = "proposals";

/// The steps from which the next one of a branch is chosen.
#[derive(Deserialize, JsonSchema)]
pub(super) struct Proposals {
    /// the steps, each in the place of the others
    pub(super) proposals: Vec<String>,
}

/// Whether a branch is complete, next to its score.
#[derive(Deserialize, JsonSchema)]
struct Valued {
    /// whether the steps hold the whole solution already
    solved: bool,
}

/// Whether the branch that is voted for is complete.
#[derive(Deserialize, JsonSchema)]
struct Voted {
    /// whether it holds the whole solution already
    solved: bool,
}

/// The field with the number of the branch that is voted for.
const CHOICE: &str = "choice";

/// Asks for approaches.
pub(super) fn approaches(settings: &TreeOfThoughts, stage: &Stage) -> Ask {
    let question = match settings.approaches {
        1 => "Name the approach that promises most, and how much it does, from 0 to 10.".to_owned(),
        several => {
            format!(
                "Name {several} approaches that differ, and how much each promises, from 0 to 10."
            )
        }
    };

    let ask = Ask::new(question).with_fields(stage.parameters().get_key_value(APPROACHES));
    let count = settings.approaches;
    ask.narrowed(APPROACHES, |key| key.offering_items(count, count))
        .with_check(has_approaches)
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
pub(super) fn development(settings: &TreeOfThoughts, leaf: &Leaf) -> Ask {
    let steps = numbered(&leaf.steps);
    let most = settings.proposals;

    if most == 1 {
        let question = format!(
            "The way so far:\n{steps}\n\nTake the next step on this way. One step only, with what it gives."
        );
        return Ask::new(question).with_name(&*leaf.name);
    }

    let question = format!(
        "The way so far:\n{steps}\n\nPropose up to {most} different next steps. Each is one step only, on one \
         line, with what it gives. If no step is left to take, write `none`."
    );
    // An approach has at least one step, but models leave the list empty if they may.
    let is_new = leaf.steps.len() == 1;
    let least = usize::from(is_new);

    Ask::new(question)
        .with_name(&*leaf.name)
        .with_fields_of::<Proposals>()
        .narrowed(PROPOSALS, |key| key.offering_items(least, most))
}

/// Asks for the score of a branch.
pub(super) fn value(stage: &Stage, leaf: &Leaf) -> Ask {
    let steps = numbered(&leaf.steps);
    let question = format!(
        "A way to the solution, as far as it was gone:\n{steps}\n\nJudge it: are the steps right, and can they \
         lead to a solution? 0 means that they cannot, 10 that they surely do."
    );

    Ask::new(question)
        .with_name(&*leaf.name)
        .with_fields(stage.parameters().get_key_value(SCORE))
        .with_fields_of::<Valued>()
}

/// Asks which of several branches is the best.
pub(super) fn vote(leaves: &[&Leaf]) -> Ask {
    let way = |(number, leaf): (usize, &&Leaf)| {
        let steps = numbered(&leaf.steps);
        format!("Way {number}:\n{steps}")
    };
    let ways: Vec<String> = (1..).zip(leaves).map(way).collect();
    let ways = ways.join("\n\n");
    let question = format!(
        "Ways to the solution, as far as they were gone.\n\n{ways}\n\nJudge them, and choose the one that is \
         most likely to lead to a solution."
    );

    #[expect(
        clippy::cast_precision_loss,
        reason = "there are at most a thousand branches"
    )]
    let most = leaves.len() as f64;

    let choice = ParameterType::Integer {
        min: Some(1.0),
        max: Some(most),
    };
    let choice = Parameter::new(choice, "the number of the way that is chosen");

    Ask::new(question)
        .with_field(CHOICE, choice)
        .with_fields_of::<Voted>()
}

/// Asks for the solution that follows from the steps of a branch.
pub(super) fn solution(steps: &[String], problem: &str) -> Ask {
    let steps = numbered(steps);
    let question =
        format!("The best way that was found:\n{steps}\n\nPut its steps together into a solution.");
    let answer = Parameter::text("the answer, short and complete");
    Ask::new(question)
        .with_field(ANSWER, answer)
        .answering(problem)
}

/// Returns the approach and the steps as a numbered list.
fn numbered(steps: &[String]) -> String {
    let lines = (1..).zip(steps);
    let lines = lines.map(|(number, step): (usize, _)| format!("{number}. {step}"));
    lines.collect::<Vec<_>>().join("\n")
}

/// The reply to one of several questions.
pub(super) type Reply = Result<StageReply, AskProblem>;

/// The score of a branch, with the reason.
pub(super) struct Judged {
    /// The reason in the words of the model, which may be empty.
    pub(super) text: String,
    pub(super) worth: Worth,
}

/// Returns the mean of several scores of one branch, with the text of the first. The branch is
/// solved if the majority of the replies report that.
pub(super) fn valued(asked: &[Reply]) -> Result<Judged, AskProblem> {
    let score = |reply: &StageReply| reply.fields.get(SCORE)?.as_f64();
    let scores: Vec<f64> = replies(asked).filter_map(score).collect();
    let Some(first) = replies(asked).next().filter(|_| !scores.is_empty()) else {
        return Err(problem(asked));
    };

    let solved = replies(asked)
        .filter(|reply| matches!(reply.value(), Ok(Valued { solved: true })))
        .count();
    #[expect(
        clippy::cast_precision_loss,
        reason = "there are at most twenty values"
    )]
    let mean = scores.iter().sum::<f64>() / scores.len() as f64;

    let worth = Worth::new(rounded(mean)).or_solved(is_majority(solved, scores.len()));
    Ok(Judged {
        text: first.text.clone(),
        worth,
    })
}

/// A vote for one of several branches.
struct Vote {
    /// The number of the branch, from 1.
    choice: usize,
    solved: bool,
}

impl Vote {
    fn read(reply: &StageReply) -> Option<Self> {
        let choice = reply.fields.get(CHOICE)?.as_u64()?;
        let Voted { solved } = reply.value().ok()?;

        Some(Self {
            choice: usize::try_from(choice).ok()?,
            solved,
        })
    }
}

/// Returns the scores of the branches: their shares of the votes, times ten.
pub(super) fn voted(asked: &[Reply], branches: usize) -> Vec<Result<Judged, AskProblem>> {
    let votes: Vec<Vote> = replies(asked).filter_map(Vote::read).collect();
    if votes.is_empty() {
        return (0..branches).map(|_| Err(problem(asked))).collect();
    }

    (1..=branches)
        .map(|branch| Ok(share(&votes, branch)))
        .collect()
}

/// Returns the score of the branch with this number.
fn share(votes: &[Vote], branch: usize) -> Judged {
    let for_branch = || votes.iter().filter(|vote| vote.choice == branch);
    let count = for_branch().count();
    let solved = for_branch().filter(|vote| vote.solved).count();

    #[expect(clippy::cast_precision_loss, reason = "there are at most twenty votes")]
    let share = 10.0 * count as f64 / votes.len() as f64;
    let worth = Worth::new(rounded(share)).or_solved(is_majority(solved, count));
    Judged {
        text: format!("{count} of {} votes.", votes.len()),
        worth,
    }
}

fn is_majority(count: usize, of: usize) -> bool {
    count * 2 > of
}

fn replies(asked: &[Reply]) -> impl Iterator<Item = &StageReply> {
    asked.iter().filter_map(|reply| reply.as_ref().ok())
}

/// Returns why no question has a reply.
fn problem(asked: &[Reply]) -> AskProblem {
    let problem = asked.iter().find_map(|reply| reply.as_ref().err());
    problem.cloned().unwrap_or(AskProblem::NotNeeded)
}

/// Rounds to hundredths, since scores aren't more precise.
fn rounded(score: f64) -> f64 {
    (score * 100.0).round() / 100.0
}
