mod questions;
mod settings;
mod tree;

pub use settings::{Search, TreeOfThoughts, Worth};

use std::collections::BTreeSet;

use cogwork_tools::Tools;
use serde_json::{Value, json};

use self::settings::Evaluation;
use self::tree::{Tree, Way};
use super::normal_form::normal_form;
use crate::{
    Answer, AskProblem, Asked, BranchId, Done, Draft, Driver, Limit, Next, Reply, SessionError, SolveError,
    Solving, Stage, Strategy, StrategyName, Thought, ThoughtId, Turn, Work,
};

/// The answer, from the solution to the final response.
const ANSWER: &str = "answer";

impl Driver for TreeOfThoughts {
    fn strategy(&self) -> Strategy {
        StrategyName::TreeOfThoughts.strategy()
    }

    fn instructions(&self, _tools: &Tools, _native_tools: bool) -> String {
        "You solve a problem by a tree of thoughts: several ways are tried, each step by step, and the best is \
         followed. Each message asks for one part of that work. Do what it asks and nothing else."
            .to_owned()
    }

    fn work(&self, turn: &Turn<'_>) -> Result<Work, SolveError> {
        let solving = turn.solving;
        let tree = Tree::new(self, solving);
        Ok(match turn.stage.name() {
            "problem_reception" => Work::say(solving.problem()),
            // Side by side with nothing: questions of the tree do not read each other's replies.
            "approach_exploration" => all(vec![questions::approaches(self, turn)]),
            "branch_creation" => {
                let ids: Vec<_> = tree.to_open().into_iter().map(|approach| approach.id).collect();
                Work::say(ids.join(", "))
            }
            "branch_development" => {
                let ask = |branch: &BranchId| questions::development(self, turn, &tree, *branch);
                all(tree.to_develop().iter().map(ask).collect())
            }
            "branch_evaluation" => {
                let branches = tree.to_evaluate();
                match &self.evaluation {
                    Evaluation::Check(_) => all(Vec::new()),
                    Evaluation::Votes(votes) if branches.len() > 1 => all((1..=*votes)
                        .map(|vote| questions::vote(turn, &tree, &branches).named(format!("vote {vote}")))
                        .collect()),
                    evaluation => {
                        let ask = |branch: &BranchId| {
                            let ask = questions::value(turn, &tree, *branch);
                            std::iter::repeat_n(ask, evaluation.values())
                        };
                        all(branches.iter().flat_map(ask).collect())
                    }
                }
            }
            "branch_selection" => Work::say(""),
            "continuation_decision" => Work::say(tree.way().to_string()),
            "solution_formulation" => Work::Ask(questions::solution(turn, &tree)),
            "path_justification" => Work::say(tree.justification()),
            _ => Work::say(solution(solving)),
        })
    }

    fn take(&self, solving: &mut Solving, stage: &Stage, done: Done) -> Result<Next, SolveError> {
        let next = done.next_of(stage);
        match (stage.name(), done) {
            ("approach_exploration", done) => {
                let draft = done.draft_at(stage);
                solving.think(explored(self, draft))?;
            }
            ("branch_creation", _) => {
                if !create(self, solving, stage)? {
                    return Ok(Next::GiveUp("there is no room for another branch".to_owned()));
                }
            }
            ("branch_development", Done::AllAsked(asked)) => develop(self, solving, stage, asked)?,
            ("branch_evaluation", done) => evaluate(self, solving, stage, done)?,
            ("branch_selection", _) => select(self, solving, stage)?,
            ("continuation_decision", _) => return decide(self, solving, stage),
            ("solution_formulation", Done::Replied(reply)) => {
                solving.set_note(ANSWER, reply.field(ANSWER));
                let text = if reply.text.is_empty() { reply.field(ANSWER) } else { reply.text.as_str() };
                solving.think(Draft::at(stage.name(), text))?;
            }
            (_, Done::Said { text, .. }) if text.is_empty() => {}
            (_, done) => {
                solving.think(done.draft_at(stage))?;
            }
        }
        Ok(next)
    }

    /// The answer; before there is one, the steps of the branch with the highest score.
    fn answer(&self, solving: &Solving) -> Option<Answer> {
        match solution(solving) {
            "" => Tree::new(self, solving).best_steps().map(Answer::new),
            answer => Some(Answer::new(answer)),
        }
    }

    /// A tree has an end: its depth is bounded, and a step that a path has already is no step.
    fn progress(&self, _thought: &Thought) -> Option<String> {
        None
    }
}

/// Nothing to ask is nothing to do.
fn all(asks: Vec<crate::Ask>) -> Work {
    match asks.is_empty() {
        true => Work::say(""),
        false => Work::AskAll { asks, enough: None },
    }
}

fn solution(solving: &Solving) -> &str {
    solving.note(ANSWER).and_then(Value::as_str).unwrap_or_default()
}

/// The thought of the approaches, with those that differ, the most promising first, as many as are wanted.
fn explored(settings: &TreeOfThoughts, mut draft: Draft) -> Draft {
    let mut approaches = tree::approaches(draft.parameters.get("approaches"));
    approaches.sort_by(|one, other| other.promise.total_cmp(&one.promise));
    let (mut ids, mut described) = (BTreeSet::new(), BTreeSet::new());
    approaches.retain(|approach| {
        described.insert(normal_form(&approach.description)) && ids.insert(normal_form(&approach.id))
    });
    approaches.truncate(settings.approaches);
    if draft.thought.is_empty() {
        let ids: Vec<_> = approaches.iter().map(|approach| approach.id.as_str()).collect();
        draft.thought = format!("Approaches: {}.", ids.join(", "));
    }
    draft.with("approaches", json!(approaches))
}

/// Opens branches for the approaches whose turn it is. `false`: there is no room for any.
fn create(settings: &TreeOfThoughts, solving: &mut Solving, stage: &Stage) -> Result<bool, SolveError> {
    let tree = Tree::new(settings, solving);
    let (approaches, given_up) = (tree.to_open(), tree.hopeless());
    let Some(explored) = tree.explored().map(Thought::id) else {
        return Err(SolveError::driver("there are no approaches to open a branch for"));
    };
    let mut opened = Vec::new();
    for approach in approaches {
        let Some(branch) = fork(solving, explored, &approach.id)? else { break };
        let draft = Draft::at(stage.name(), approach.description).with("approach_id", approach.id);
        solving.session_mut().think_on(branch, draft)?;
        opened.push(branch);
    }
    let Some(first) = opened.first() else { return Ok(false) };
    solving.session_mut().switch(*first)?;
    given_up.into_iter().try_for_each(|branch| give_up(solving, branch))?;
    Ok(true)
}

/// Puts the steps that were proposed on the branch, and on forks of it.
fn develop(
    settings: &TreeOfThoughts,
    solving: &mut Solving,
    stage: &Stage,
    asked: Vec<Asked>,
) -> Result<(), SolveError> {
    let branches = Tree::new(settings, solving).to_develop();
    for (branch, asked) in branches.into_iter().zip(asked) {
        let tree = Tree::new(settings, solving);
        let approach = tree.approach(branch).to_owned();
        let steps = match &asked.reply {
            Ok(reply) => new_steps(settings, &tree.steps(branch), reply),
            Err(AskProblem::OutOf(_)) => continue,
            Err(problem) => {
                let draft = Draft::here(format!("No step could be taken: {problem}"));
                solving.session_mut().think_on(branch, draft)?;
                give_up(solving, branch)?;
                continue;
            }
        };
        let Some(tip) = solving.session().branch(branch)?.tip() else { continue };
        let Some((first, others)) = steps.split_first() else {
            solving.session_mut().think_on(branch, Draft::here("No step is left to take."))?;
            match solving.session().branch(branch)?.score() {
                Some(_) => tree::mark(solving, tree::ENDED, branch),
                None => give_up(solving, branch)?,
            }
            continue;
        };
        let draft = |step: &str| Draft::at(stage.name(), step).with("approach_id", approach.as_str());
        solving.session_mut().think_on(branch, draft(first))?;
        for step in others {
            let Some(fork) = fork(solving, tip, &approach)? else { break };
            solving.session_mut().think_on(fork, draft(step))?;
        }
    }
    Ok(())
}

/// The steps of a reply that say something new.
fn new_steps(settings: &TreeOfThoughts, path: &[&str], reply: &Reply) -> Vec<String> {
    let mut known: BTreeSet<String> = path.iter().map(|step| normal_form(step)).collect();
    known.extend(["none", "nothing"].map(String::from));
    let proposed: Vec<&str> = match reply.fields.get(questions::PROPOSALS).and_then(Value::as_array) {
        Some(proposals) => proposals.iter().filter_map(Value::as_str).collect(),
        None => vec![reply.text.as_str()],
    };
    let steps = proposed.into_iter().map(|step| tree::cut(step.trim())).filter(|step| !step.is_empty());
    steps.filter(|step| known.insert(normal_form(step))).take(settings.proposals).collect()
}

/// Scores the branches that have a new step.
fn evaluate(
    settings: &TreeOfThoughts,
    solving: &mut Solving,
    stage: &Stage,
    done: Done,
) -> Result<(), SolveError> {
    let tree = Tree::new(settings, solving);
    let branches = tree.to_evaluate();
    let asked = match done {
        Done::AllAsked(asked) => asked,
        _ => Vec::new(),
    };
    let judged: Vec<Result<questions::Judged, AskProblem>> = match &settings.evaluation {
        Evaluation::Check(check) => {
            let worth = |branch: &BranchId| check(solving.problem(), &tree.steps(*branch));
            branches.iter().map(|branch| Ok((String::new(), worth(branch)))).collect()
        }
        Evaluation::Votes(_) if branches.len() > 1 => questions::voted(&asked, branches.len()),
        evaluation => asked.chunks(evaluation.values()).map(questions::valued).collect(),
    };
    for (branch, judged) in branches.into_iter().zip(judged) {
        let approach = Tree::new(settings, solving).approach(branch).to_owned();
        let session = solving.session_mut();
        match judged {
            Ok((text, worth)) => {
                let said = if worth.is_solved() { "This is solved." } else { "This is judged." };
                let text = if text.is_empty() { said.to_owned() } else { text };
                let draft = Draft::at(stage.name(), text)
                    .with("approach_id", approach)
                    .with("evaluation_score", worth.score());
                session.think_on(branch, draft)?;
                session.score(branch, worth.score())?;
                // What is solved and worth nothing is a slip of the model.
                if worth.is_solved() && worth.score() >= settings.threshold {
                    tree::mark(solving, tree::SOLVED, branch);
                }
            }
            // It is as good as it was; the run is about to end.
            Err(AskProblem::OutOf(_)) => {}
            Err(problem) => {
                session.think_on(branch, Draft::here(format!("This could not be judged: {problem}")))?;
                give_up(solving, branch)?;
            }
        }
    }
    Ok(())
}

/// Chooses the branches to go on with and gives up those that are not needed any more.
fn select(settings: &TreeOfThoughts, solving: &mut Solving, stage: &Stage) -> Result<(), SolveError> {
    let tree = Tree::new(settings, solving);
    let (judged, chosen) = (tree.judged(), tree.chosen());
    let mut drafts: Vec<(BranchId, Draft)> = Vec::new();
    let draft = |text: String, branch: BranchId| {
        Draft::at(stage.name(), text).with("approach_id", tree.approach(branch))
    };
    for branch in chosen.iter().filter(|branch| judged.contains(branch)) {
        drafts.push((*branch, draft(format!("Chosen with a score of {}.", tree.score(*branch)), *branch)));
    }
    // Where what was judged last is not what is chosen, it says so.
    if let (true, Some(last)) = (drafts.is_empty(), judged.first()) {
        let text = match chosen.first() {
            Some(chosen) => draft(
                format!("`{}` stays the best, with a score of {}.", tree.name(*chosen), tree.score(*chosen)),
                *chosen,
            ),
            None => draft(
                format!("None is good enough; this is the best, with a score of {}.", tree.score(*last)),
                *last,
            ),
        };
        drafts.push((*last, text));
    }
    let kept: BTreeSet<BranchId> = drafts.iter().map(|(branch, _)| *branch).chain(tree.kept()).collect();
    for (branch, draft) in drafts {
        solving.session_mut().think_on(branch, draft)?;
    }
    if let Some(current) = chosen.first().or(judged.first()) {
        solving.session_mut().switch(*current)?;
    }
    judged.into_iter().filter(|branch| !kept.contains(branch)).try_for_each(|branch| give_up(solving, branch))
}

/// Goes the way that the tree leads.
fn decide(settings: &TreeOfThoughts, solving: &mut Solving, stage: &Stage) -> Result<Next, SolveError> {
    let tree = Tree::new(settings, solving);
    let (way, selected, given_up) = (tree.way(), tree.selected(), tree.hopeless());
    for branch in selected {
        solving.session_mut().think_on(branch, Draft::at(stage.name(), way.to_string()))?;
    }
    match way {
        Way::Develop { first, .. } => {
            solving.session_mut().switch(first)?;
            given_up.into_iter().try_for_each(|branch| give_up(solving, branch))?;
            Ok(Next::stage("branch_development"))
        }
        Way::Open { .. } => Ok(Next::stage("branch_creation")),
        Way::Formulate { branch, .. } => {
            solving.session_mut().switch(branch)?;
            Ok(Next::stage("solution_formulation"))
        }
        Way::Exhausted { .. } => Ok(Next::GiveUp(way.to_string())),
    }
}

/// A branch of an approach, under a name that is free. `None`: the session holds no more branches.
fn fork(solving: &mut Solving, from: ThoughtId, approach: &str) -> Result<Option<BranchId>, SolveError> {
    let session = solving.session_mut();
    let name = tree::free_name(session, approach);
    match session.fork(from, name) {
        Ok(branch) => Ok(Some(branch)),
        Err(SessionError::Full { limit: Limit::Branches, .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn give_up(solving: &mut Solving, branch: BranchId) -> Result<(), SolveError> {
    let session = solving.session_mut();
    if session.current() == branch {
        session.switch(BranchId::MAIN)?;
    }
    Ok(session.prune(branch)?)
}
