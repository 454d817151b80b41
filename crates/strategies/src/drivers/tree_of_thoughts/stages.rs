//! The work of the driver in each stage.

use std::collections::BTreeSet;
use std::iter::repeat_n;

use serde_json::json;

use super::approach::{Approach, approaches, cut};
use super::branches::{abandon, end_branch, fork, prune_all};
use super::names::{APPROACH, APPROACHES, SCORE, TreeStage};
use super::questions::{self, Judged};
use super::selection::{Selected, selected};
use super::settings::{Evaluation, TreeOfThoughts};
use super::tree::{self, Tree};
use super::way::Way;
use crate::drivers::answering::draft;
use crate::drivers::normal_form::normal_form;
use crate::drivers::stage_names::StageName;
use crate::{
    Ask, AskProblem, Asked, BranchId, Done, Next, SessionError, SessionLimit, SolveError, Solving,
    Stage, StageReply, StageTurn, StageWork, Thought, ThoughtDraft,
};

impl TreeOfThoughts {
    pub(super) fn ask_for_approaches(&self, turn: &StageTurn<'_>) -> StageWork {
        // Asked as one of several, so that it isn't added to the conversation: the questions of a
        // tree are independent.
        ask_all(vec![questions::approaches(self, turn)])
    }

    pub(super) fn ask_for_steps(&self, turn: &StageTurn<'_>, tree: &Tree<'_>) -> StageWork {
        let branches = tree.to_develop();
        let steps = |branch: &BranchId| questions::development(self, turn, tree, *branch);
        ask_all(branches.iter().map(steps).collect())
    }

    pub(super) fn ask_for_scores(&self, turn: &StageTurn<'_>, tree: &Tree<'_>) -> StageWork {
        let branches = tree.to_evaluate();
        let value = |branch: &BranchId| questions::value(turn, tree, *branch);
        let vote = |number: usize| {
            questions::vote(turn, tree, &branches).with_name(format!("vote {number}"))
        };

        match self.evaluation {
            Evaluation::Check(_) => StageWork::say(""),
            Evaluation::Votes(votes) if branches.len() > 1 => {
                ask_all((1..=votes).map(vote).collect())
            }
            // A single branch can't be compared.
            Evaluation::Votes(_) => ask_all(branches.iter().map(value).collect()),
            Evaluation::Values(times) => {
                let values = |branch: &BranchId| repeat_n(value(branch), times);
                ask_all(branches.iter().flat_map(values).collect())
            }
        }
    }

    /// Adds the thought with the approaches.
    pub(super) fn explore(
        &self,
        solving: &mut Solving,
        stage: &Stage,
        done: &Done,
    ) -> Result<(), SolveError> {
        let mut thought = done.draft_at(stage);
        let approaches = self.best_approaches(approaches(thought.parameters.get(APPROACHES)));

        if thought.thought.is_empty() {
            let ids: Vec<&str> = approaches
                .iter()
                .map(|approach| approach.id.as_str())
                .collect();
            thought.thought = format!("Approaches: {}.", ids.join(", "));
        }

        solving.think(thought.with(APPROACHES, json!(approaches)))?;
        Ok(())
    }

    /// Returns the approaches that differ, the most promising first, up to the maximum.
    fn best_approaches(&self, mut approaches: Vec<Approach>) -> Vec<Approach> {
        approaches.sort_by(|one, other| other.promise.total_cmp(&one.promise));

        let mut ids = BTreeSet::new();
        let mut descriptions = BTreeSet::new();
        approaches.retain(|approach| {
            descriptions.insert(normal_form(&approach.description))
                && ids.insert(normal_form(&approach.id))
        });

        approaches.truncate(self.approaches);
        approaches
    }

    /// Opens branches for the next approaches.
    ///
    /// # Errors
    ///
    /// Returns an error if the session has no room for any.
    pub(super) fn create(&self, solving: &mut Solving, stage: &Stage) -> Result<(), SolveError> {
        let tree = Tree::new(self, solving);
        let approaches = tree.to_open();
        let hopeless = tree.hopeless();
        let Some(explored) = tree.explored().map(Thought::id) else {
            return Err(SolveError::driver(
                "there are no approaches to open a branch for",
            ));
        };

        let mut first = None;
        for approach in approaches {
            let Some(branch) = fork(solving, explored, &approach.id)? else {
                break;
            };

            let thought =
                ThoughtDraft::at(stage.name(), approach.description).with(APPROACH, approach.id);
            solving.session_mut().think_on(branch, thought)?;
            first = first.or(Some(branch));
        }

        let Some(first) = first else {
            return Err(SolveError::from(SessionError::Full {
                limit: SessionLimit::Branches,
                most: solving.session().branches().len(),
            }));
        };

        solving.session_mut().switch(first)?;
        prune_all(solving, hopeless)
    }

    /// Adds the proposed steps to the branches that were developed.
    pub(super) fn develop(
        &self,
        solving: &mut Solving,
        stage: &Stage,
        done: Done,
    ) -> Result<(), SolveError> {
        let Done::AllAsked(asked) = done else {
            return think_if_said(solving, stage, &done);
        };

        let branches = Tree::new(self, solving).to_develop();
        for (branch, asked) in branches.into_iter().zip(asked) {
            match asked.reply {
                Ok(reply) => self.add_steps(solving, stage, branch, &reply)?,
                Err(problem) => abandon(solving, branch, "No step could be taken", problem)?,
            }
        }

        Ok(())
    }

    /// Adds the first step of a reply to the branch, and the others to forks of it.
    fn add_steps(
        &self,
        solving: &mut Solving,
        stage: &Stage,
        branch: BranchId,
        reply: &StageReply,
    ) -> Result<(), SolveError> {
        let tree = Tree::new(self, solving);
        let approach = tree.approach(branch).to_owned();
        let steps = self.new_steps(&tree.steps(branch), reply);

        let Some(tip) = solving.session().branch(branch)?.tip() else {
            return Ok(());
        };

        let Some((first, others)) = steps.split_first() else {
            return end_branch(solving, branch);
        };

        let thought =
            |step: &str| ThoughtDraft::at(stage.name(), step).with(APPROACH, approach.as_str());
        solving.session_mut().think_on(branch, thought(first))?;
        for step in others {
            let Some(fork) = fork(solving, tip, &approach)? else {
                break;
            };

            solving.session_mut().think_on(fork, thought(step))?;
        }

        Ok(())
    }

    /// Returns the steps of a reply that `path` doesn't have yet.
    fn new_steps(&self, path: &[&str], reply: &StageReply) -> Vec<String> {
        let proposed = match reply.value() {
            Some(questions::Proposals { proposals }) => proposals,
            None => vec![reply.text.clone()],
        };

        let mut known: BTreeSet<String> = path.iter().map(|step| normal_form(step)).collect();
        known.insert("none".to_owned());
        known.insert("nothing".to_owned());

        let steps = proposed.into_iter().map(|step| cut(step.trim()));
        let is_new = |step: &String| !step.is_empty() && known.insert(normal_form(step));
        steps.filter(is_new).take(self.proposals).collect()
    }

    /// Scores the branches that have a new step.
    pub(super) fn evaluate(
        &self,
        solving: &mut Solving,
        stage: &Stage,
        done: Done,
    ) -> Result<(), SolveError> {
        let tree = Tree::new(self, solving);
        let branches = tree.to_evaluate();
        let judged = self.judged(&tree, &branches, done);

        for (branch, judged) in branches.into_iter().zip(judged) {
            match judged {
                Ok(judged) => self.add_score(solving, stage, branch, judged)?,
                Err(problem) => abandon(solving, branch, "This could not be judged", problem)?,
            }
        }

        Ok(())
    }

    /// Returns the score of each branch.
    fn judged(
        &self,
        tree: &Tree<'_>,
        branches: &[BranchId],
        done: Done,
    ) -> Vec<Result<Judged, AskProblem>> {
        let asked: Vec<Asked> = if let Done::AllAsked(asked) = done {
            asked
        } else {
            Vec::new()
        };

        match &self.evaluation {
            Evaluation::Check(check) => {
                let checked = |branch: &BranchId| Judged {
                    text: String::new(),
                    worth: check(tree.problem(), &tree.steps(*branch)),
                };
                branches.iter().map(|branch| Ok(checked(branch))).collect()
            }
            Evaluation::Votes(_) if branches.len() > 1 => questions::voted(&asked, branches.len()),
            Evaluation::Votes(_) => asked.chunks(1).map(questions::valued).collect(),
            Evaluation::Values(times) => asked.chunks(*times).map(questions::valued).collect(),
        }
    }

    fn add_score(
        &self,
        solving: &mut Solving,
        stage: &Stage,
        branch: BranchId,
        judged: Judged,
    ) -> Result<(), SolveError> {
        let worth = judged.worth;
        let approach = Tree::new(self, solving).approach(branch).to_owned();
        let otherwise = if worth.is_solved() {
            "This is solved."
        } else {
            "This is judged."
        };

        let thought = draft(stage, &judged.text, otherwise)
            .with(APPROACH, approach)
            .with(SCORE, worth.score());

        let session = solving.session_mut();
        session.think_on(branch, thought)?;
        session.score(branch, worth.score())?;

        // If a branch is both solved and below the threshold, the model made a mistake.
        if worth.is_solved() && worth.score() >= self.threshold {
            tree::mark(solving, tree::SOLVED, branch);
        }

        Ok(())
    }

    /// Chooses the branches to continue with, and prunes those that aren't needed any more.
    pub(super) fn select(&self, solving: &mut Solving, stage: &Stage) -> Result<(), SolveError> {
        let tree = Tree::new(self, solving);
        let judged = tree.judged();
        let chosen = tree.chosen();
        let selected = selected(&tree, &judged, &chosen);

        let mut kept: BTreeSet<BranchId> = tree.kept().into_iter().collect();
        kept.extend(selected.iter().map(|selected| selected.branch));

        for Selected {
            branch,
            text,
            approach,
        } in selected
        {
            let thought = ThoughtDraft::at(stage.name(), text).with(APPROACH, approach);
            solving.session_mut().think_on(branch, thought)?;
        }

        if let Some(current) = chosen.first().or(judged.first()) {
            solving.session_mut().switch(*current)?;
        }

        prune_all(
            solving,
            judged.into_iter().filter(|branch| !kept.contains(branch)),
        )
    }

    /// Continues as the tree requires.
    pub(super) fn decide(&self, solving: &mut Solving, stage: &Stage) -> Result<Next, SolveError> {
        let tree = Tree::new(self, solving);
        let way = tree.way();
        let selected = tree.selected();
        let hopeless = tree.hopeless();

        for branch in selected {
            let thought = ThoughtDraft::at(stage.name(), way.to_string());
            solving.session_mut().think_on(branch, thought)?;
        }

        match way {
            Way::Develop { first, .. } => {
                solving.session_mut().switch(first)?;
                prune_all(solving, hopeless)?;
                Ok(Next::stage(TreeStage::BranchDevelopment.name()))
            }
            Way::Open { .. } => Ok(Next::stage(TreeStage::BranchCreation.name())),
            Way::Formulate { branch, .. } => {
                solving.session_mut().switch(branch)?;
                Ok(Next::stage(TreeStage::SolutionFormulation.name()))
            }
            Way::Exhausted { .. } => Ok(Next::GiveUp(way.to_string())),
        }
    }
}

/// Asks questions concurrently, or does nothing if there are none.
fn ask_all(asks: Vec<Ask>) -> StageWork {
    if asks.is_empty() {
        StageWork::say("")
    } else {
        StageWork::AskAll { asks, enough: None }
    }
}

/// Adds what was done as a thought, unless it is an empty text from the driver.
pub(super) fn think_if_said(
    solving: &mut Solving,
    stage: &Stage,
    done: &Done,
) -> Result<(), SolveError> {
    let is_silent = matches!(done, Done::Said { text, .. } if text.is_empty());
    if !is_silent {
        solving.think(done.draft_at(stage))?;
    }

    Ok(())
}
