//! The questions for the model, and the scores in its replies. Each question is preceded only by
//! the problem, and contains everything that it needs from its branch.

use std::collections::BTreeSet;

use cogwork_text::MultiLine;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::tree::Leaf;
use super::{MOST, TreeOfThoughts, Worth};
use crate::methods::normal_form::normal_form;
use crate::methods::shared::ShortAnswer;
use crate::solve::ANSWER;
use crate::table::Parameter;
use crate::{Ask, AskProblem, StageReply};

/// The approaches to a problem.
#[derive(Deserialize, JsonSchema)]
pub(super) struct Approaches {
    pub(super) thought: String,
    /// The approaches.
    #[schemars(length(min = 1))]
    approaches: Vec<Approach>,
}

/// An approach.
#[derive(Clone, Serialize, Deserialize, JsonSchema)]
pub(super) struct Approach {
    /// What is tried.
    pub(super) description: String,
    /// The name of the approach.
    pub(super) id: String,
    /// How much it promises, from 0 to 10.
    #[schemars(range(min = 0, max = 10))]
    pub(super) promise: f64,
}

impl Approaches {
    pub(super) fn question(settings: &TreeOfThoughts) -> Ask<Self> {
        let count = settings.approaches.clamp(1, MOST);
        let question = match count {
            1 => "Name the approach that promises most, and how much it does, from 0 to 10."
                .to_owned(),
            several => format!(
                "Name {several} approaches that differ, and how much each promises, from 0 to 10."
            ),
        };

        Ask::of::<Self>(question)
            .narrowed("approaches", |key| key.offering_items(count, count))
            .with_check(|named| match named.usable().next() {
                Some(_) => Ok(()),
                None => Err("`approaches` has none with an id and a description".to_owned()),
            })
    }

    /// Returns the approaches with a text, in order.
    fn usable(&self) -> impl Iterator<Item = Approach> {
        let trimmed = self.approaches.iter().map(|approach| Approach {
            id: cut(&approach.id),
            description: cut(&approach.description),
            promise: approach.promise,
        });
        trimmed.filter(|approach| !approach.id.is_empty() && !approach.description.is_empty())
    }

    /// Returns the approaches that differ, the most promising first, up to a number.
    pub(super) fn best(&self, most: usize) -> Vec<Approach> {
        let mut approaches: Vec<Approach> = self.usable().collect();
        approaches.sort_by(|one, other| other.promise.total_cmp(&one.promise));

        let mut ids = BTreeSet::new();
        let mut descriptions = BTreeSet::new();
        approaches.retain(|approach| {
            // Models give one approach two names, or two approaches one name.
            descriptions.insert(normal_form(&approach.description))
                && ids.insert(normal_form(&approach.id))
        });
        approaches.truncate(most);
        approaches
    }
}

/// The steps from which the next one of a branch is chosen.
#[derive(Deserialize, JsonSchema)]
struct Proposals {
    /// the steps, each in the place of the others
    proposals: Vec<String>,
}

/// Asks for the next step of a branch, or for several from which to choose.
pub(super) fn development(most: usize, leaf: &Leaf) -> Ask {
    let steps = numbered(&leaf.steps);
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
    let least = usize::from(leaf.steps.len() == 1);
    Ask::new(question)
        .with_name(&*leaf.name)
        .with_fields_of::<Proposals>()
        .narrowed("proposals", |key| key.offering_items(least, most))
}

/// Returns the steps of a reply that a branch doesn't have yet.
pub(super) fn new_steps(most: usize, path: &[String], reply: &StageReply) -> Vec<String> {
    let proposed = match reply.value() {
        Ok(Proposals { proposals }) => proposals,
        Err(_) => vec![reply.text.clone()],
    };

    // A step that the branch has already would lead in a circle.
    let known = path.iter().map(|step| normal_form(step));
    let mut known: BTreeSet<String> = known.chain(["none".into(), "nothing".into()]).collect();
    let steps = proposed.iter().map(|step| cut(step));
    steps
        .filter(|step| !step.is_empty() && known.insert(normal_form(step)))
        .take(most)
        .collect()
}

/// A score of a branch. The words of the model are the reason.
#[derive(Clone, Deserialize, JsonSchema)]
pub(super) struct Value {
    thought: String,
    /// How promising the branch is now, from 0 to 10.
    #[schemars(range(min = 0, max = 10))]
    evaluation_score: f64,
    /// whether the steps hold the whole solution already
    solved: bool,
}

/// Asks for the score of a branch.
pub(super) fn value(leaf: &Leaf) -> Ask<Value> {
    let steps = numbered(&leaf.steps);
    Ask::of::<Value>(format!(
        "A way to the solution, as far as it was gone:\n{steps}\n\nJudge it: are the steps right, and can they \
         lead to a solution? 0 means that they cannot, 10 that they surely do."
    ))
    .with_name(&*leaf.name)
}

/// Asks for the solution that follows from the steps of a branch.
pub(super) fn solution(steps: &[String]) -> Ask<ShortAnswer> {
    let steps = numbered(steps);
    let question =
        format!("The best way that was found:\n{steps}\n\nPut its steps together into a solution.");
    Ask::of::<ShortAnswer>(question)
        .with_field(ANSWER, Parameter::text("the answer, short and complete"))
}

/// The worth of a branch, with the reason, which may be empty.
pub(super) type Judged = (Worth, String);

/// Returns the mean of several scores of one branch. The branch is solved if the majority of the
/// replies report that.
pub(super) fn mean(replies: &[Result<Value, AskProblem>]) -> Result<Judged, AskProblem> {
    let values: Vec<&Value> = replies.iter().flatten().collect();
    let Some(first) = values.first() else {
        return Err(problem(replies));
    };

    let sum: f64 = values.iter().map(|value| value.evaluation_score).sum();
    let solved = values.iter().filter(|value| value.solved).count();
    let mean = sum / values.len() as f64;
    let worth = Worth {
        // In hundredths, since a score isn't more precise.
        score: (mean * 100.0).round() / 100.0,
        // A single wrong "solved" must not end the search.
        is_solved: solved * 2 > values.len(),
    };
    Ok((worth, first.thought.clone()))
}

/// Returns why no question has a reply.
fn problem<T>(replies: &[Result<T, AskProblem>]) -> AskProblem {
    let problem = replies.iter().find_map(|reply| reply.as_ref().err());
    problem.cloned().unwrap_or(AskProblem::NotNeeded)
}

/// Returns the approach and the steps as a numbered list.
fn numbered(steps: &[String]) -> String {
    let lines = (1..).zip(steps);
    let lines = lines.map(|(number, step): (usize, _)| format!("{number}. {step}"));
    lines.collect::<Vec<_>>().join("\n")
}

/// The maximum number of characters of a step.
const MAX_STEP: usize = 4_000;

/// Returns a text that is short enough to be repeated in every question about the branch.
fn cut(text: &str) -> String {
    MultiLine::new(text.trim())
        .with_max_chars(MAX_STEP)
        .to_string()
}
