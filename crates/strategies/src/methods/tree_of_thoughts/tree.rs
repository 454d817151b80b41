//! The tree: branches of approaches, which grow step by step.

use std::collections::BTreeSet;
use std::iter::repeat_n;

use serde_json::json;

use super::approach::{Approach, approaches, cut, free_name};
use super::questions::{self, Judged};
use super::settings::{Evaluation, Search, TreeOfThoughts};
use super::{APPROACH, APPROACHES, SCORE};
use crate::methods::answering::or;
use crate::methods::normal_form::normal_form;
use crate::{AskProblem, BranchId, Solve, StageReply, Stop, ThoughtDraft, ThoughtId};

/// The maximum number of other branches that a justification names.
const MAX_OTHERS: usize = 5;

/// The tree of a run.
pub(super) struct Tree<'s> {
    settings: &'s TreeOfThoughts,
    /// The thought with the approaches.
    explored: ThoughtId,
    /// The approaches without a branch, the most promising first.
    untried: Vec<Approach>,
    /// The branches, the oldest first.
    leaves: Vec<Leaf>,
}

/// A branch.
#[derive(Clone)]
pub(super) struct Leaf {
    branch: BranchId,
    pub(super) name: String,
    approach: String,
    /// The approach and the steps after it.
    pub(super) steps: Vec<String>,
    score: Option<f64>,
    stage: LeafStage,
    is_solved: bool,
    /// Whether no step is left to take.
    has_ended: bool,
}

/// What was done last with a branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LeafStage {
    Opened,
    Developed,
    Judged,
    Selected,
    Decided,
    Pruned,
}

impl Leaf {
    fn score(&self) -> f64 {
        self.score.unwrap_or_default()
    }

    fn depth(&self) -> usize {
        self.steps.len().saturating_sub(1)
    }

    /// Adds a step to the branch.
    fn develop(&mut self, cx: &mut Solve, step: &str) -> Result<(), Stop> {
        let thought = ThoughtDraft::at("branch_development", step);
        cx.add_on(self.branch, thought.with(APPROACH, &*self.approach))?;
        self.steps.push(step.to_owned());
        self.stage = LeafStage::Developed;
        Ok(())
    }

    fn judge(&mut self, cx: &mut Solve, judged: &Judged, threshold: f64) -> Result<(), Stop> {
        let worth = judged.worth;
        let otherwise = if worth.is_solved() {
            "This is solved."
        } else {
            "This is judged."
        };

        let thought = ThoughtDraft::at("branch_evaluation", or(&judged.text, otherwise))
            .with(APPROACH, &*self.approach)
            .with(SCORE, worth.score());
        cx.add_on(self.branch, thought)?;
        cx.session_mut().score(self.branch, worth.score())?;

        self.score = Some(worth.score());
        self.stage = LeafStage::Judged;
        // If a branch is both solved and below the threshold, the model made a mistake.
        self.is_solved |= worth.is_solved() && worth.score() >= threshold;
        Ok(())
    }

    /// Prunes a branch for which the model couldn't be asked, unless the run is about to end.
    fn abandon(&mut self, cx: &mut Solve, what: &str, problem: &AskProblem) -> Result<(), Stop> {
        if matches!(problem, AskProblem::OutOf(_)) {
            return Ok(());
        }

        let remark = ThoughtDraft::here(format!("{what}: {problem}"));
        cx.add_on(self.branch, remark)?;
        self.prune(cx)
    }

    fn prune(&mut self, cx: &mut Solve) -> Result<(), Stop> {
        let session = cx.session_mut();
        if session.current() == self.branch {
            session.switch(BranchId::MAIN)?;
        }

        session.prune(self.branch)?;
        self.stage = LeafStage::Pruned;
        Ok(())
    }
}

/// How the search continues.
pub(super) enum Way {
    /// With branches that were chosen.
    Develop,
    /// With approaches that weren't tried.
    Open,
    /// With the solution of the current branch.
    Formulate,
    /// No branch and no approach is left.
    Exhausted,
}

impl<'s> Tree<'s> {
    /// Asks for the approaches.
    pub(super) fn explore(settings: &'s TreeOfThoughts, cx: &mut Solve) -> Result<Self, Stop> {
        let stage = "approach_exploration";
        let question = questions::approaches(settings, cx.stage(stage)?);
        // Asked as one of several, so that it isn't added to the conversation: the questions of a
        // tree are independent.
        let mut replies = cx.ask_all(stage, vec![question])?;
        let Some(Ok(reply)) = replies.pop() else {
            return Err(Stop::fail("there are no approaches to open a branch for"));
        };

        let untried = settings.best(approaches(reply.fields.get(APPROACHES)));
        let text = format!("Approaches: {}.", ids(&untried));
        let thought = reply.draft(stage, or(&reply.text, &text));
        Ok(Self {
            settings,
            explored: cx.add(thought.with(APPROACHES, json!(untried)))?,
            untried,
            leaves: Vec::new(),
        })
    }

    /// Returns the open branches in these stages, the oldest first.
    fn at(&self, stages: &[LeafStage]) -> Vec<&Leaf> {
        let leaves = self.leaves.iter();
        leaves.filter(|leaf| stages.contains(&leaf.stage)).collect()
    }

    /// Sorts branches: solved ones first, then by depth if the search is depth first, then by score.
    /// Of equal branches, the older one comes first.
    fn ordered<'l>(&self, mut leaves: Vec<&'l Leaf>) -> Vec<&'l Leaf> {
        let is_depth_first = self.settings.search == Search::DepthFirst;
        let depth = |leaf: &Leaf| if is_depth_first { leaf.depth() } else { 0 };

        leaves.sort_by(|one, other| {
            let by_solved = other.is_solved.cmp(&one.is_solved);
            let by_depth = depth(other).cmp(&depth(one));
            let by_score = other.score().total_cmp(&one.score());
            by_solved.then(by_depth).then(by_score)
        });
        leaves
    }

    /// Returns how many branches are developed at once.
    fn beam(&self) -> usize {
        match self.settings.search {
            Search::BreadthFirst { beam_width } => beam_width,
            Search::DepthFirst | Search::BestFirst => 1,
        }
    }

    /// Returns the branches that may be followed, the best first: those in the beam if there is one,
    /// or all that are good enough.
    fn kept(&self) -> Vec<&Leaf> {
        let judged = [LeafStage::Judged, LeafStage::Selected, LeafStage::Decided];
        let mut leaves = self.ordered(self.at(&judged));
        leaves.retain(|leaf| leaf.score() >= self.settings.threshold);

        if let Search::BreadthFirst { beam_width } = self.settings.search {
            leaves.truncate(beam_width);
        }
        leaves
    }

    /// Returns the branches to continue with, the best first.
    fn chosen(&self) -> Vec<&Leaf> {
        let mut chosen = self.kept();
        chosen.truncate(self.beam());
        chosen
    }

    /// Returns whether a branch is developed further.
    fn goes_on(&self, leaf: &Leaf) -> bool {
        !leaf.is_solved && !leaf.has_ended && leaf.depth() < self.settings.depth
    }

    fn leaf(&mut self, branch: BranchId) -> Result<&mut Leaf, Stop> {
        let leaf = self.leaves.iter_mut().find(|leaf| leaf.branch == branch);
        leaf.ok_or_else(|| Stop::fail(format!("there is no branch {branch} in the tree")))
    }

    /// Opens a branch that begins like another one.
    fn fork(&mut self, cx: &mut Solve, from: ThoughtId, like: Leaf) -> Result<&mut Leaf, Stop> {
        let name = free_name(cx.session(), &like.approach);
        let branch = cx.session_mut().fork(from, &*name)?;
        let leaf = Leaf {
            branch,
            name,
            ..like
        };
        self.leaves.push(leaf);
        self.leaf(branch)
    }

    /// Opens branches for the next approaches.
    pub(super) fn open(&mut self, cx: &mut Solve) -> Result<(), Stop> {
        let hopeless = self.hopeless();
        let beam = self.beam().min(self.untried.len());
        let approaches: Vec<Approach> = self.untried.drain(..beam).collect();

        let mut first = None;
        for approach in approaches {
            let like = Leaf {
                branch: BranchId::MAIN,
                name: String::new(),
                approach: approach.id,
                steps: vec![approach.description.clone()],
                score: None,
                stage: LeafStage::Opened,
                is_solved: false,
                has_ended: false,
            };
            let leaf = self.fork(cx, self.explored, like)?;
            let branch = *first.get_or_insert(leaf.branch);
            let thought = ThoughtDraft::at("branch_creation", approach.description);
            cx.add_on(leaf.branch, thought.with(APPROACH, &*leaf.approach))?;
            cx.session_mut().switch(branch)?;
        }

        self.prune_all(cx, &hopeless)
    }

    /// Returns the branches that are developed: those just opened, or else those that were chosen.
    fn to_develop(&self) -> Vec<&Leaf> {
        let opened = self.at(&[LeafStage::Opened]);
        if !opened.is_empty() {
            return opened;
        }

        let mut chosen = self.chosen();
        chosen.retain(|leaf| leaf.stage == LeafStage::Decided && self.goes_on(leaf));
        chosen
    }

    /// Asks for next steps, and adds them to the branches.
    pub(super) fn develop(&mut self, cx: &mut Solve) -> Result<(), Stop> {
        let leaves = self.to_develop();
        let branches: Vec<BranchId> = leaves.iter().map(|leaf| leaf.branch).collect();
        let steps = |leaf: &&Leaf| questions::development(self.settings, leaf);
        let questions = leaves.iter().map(steps).collect();

        let replies = cx.ask_all("branch_development", questions)?;
        for (branch, reply) in branches.into_iter().zip(replies) {
            match reply {
                Ok(reply) => self.add_steps(cx, branch, &reply)?,
                Err(problem) => {
                    let leaf = self.leaf(branch)?;
                    leaf.abandon(cx, "No step could be taken", &problem)?;
                }
            }
        }
        Ok(())
    }

    /// Adds the first step of a reply to the branch, and the others to forks of it.
    fn add_steps(
        &mut self,
        cx: &mut Solve,
        branch: BranchId,
        reply: &StageReply,
    ) -> Result<(), Stop> {
        let settings = self.settings;
        let leaf = self.leaf(branch)?;
        let steps = settings.new_steps(&leaf.steps, reply);
        let Some((first, others)) = steps.split_first() else {
            cx.add_on(branch, ThoughtDraft::here("No step is left to take."))?;
            leaf.has_ended = true;
            return match leaf.score {
                None => leaf.prune(cx),
                Some(_) => Ok(()),
            };
        };

        let Some(tip) = cx.session().branch(branch)?.tip() else {
            return Ok(());
        };
        let before = Leaf {
            score: None,
            ..leaf.clone()
        };
        leaf.develop(cx, first)?;
        for step in others {
            let fork = self.fork(cx, tip, before.clone())?;
            fork.develop(cx, step)?;
        }
        Ok(())
    }

    /// Scores the branches that have a new step.
    pub(super) fn evaluate(&mut self, cx: &mut Solve) -> Result<(), Stop> {
        let judged = self.judged(cx)?;
        // Of a run that ends here, the scores so far count.
        let result = self.add_scores(cx, judged);
        self.keep_best(cx);
        result
    }

    fn add_scores(
        &mut self,
        cx: &mut Solve,
        judged: Vec<Result<Judged, AskProblem>>,
    ) -> Result<(), Stop> {
        let threshold = self.settings.threshold;
        let leaves = self.leaves.iter_mut();
        let developed = leaves.filter(|leaf| leaf.stage == LeafStage::Developed);

        for (leaf, judged) in developed.zip(judged) {
            match judged {
                Ok(judged) => leaf.judge(cx, &judged, threshold)?,
                Err(problem) => leaf.abandon(cx, "This could not be judged", &problem)?,
            }
        }
        Ok(())
    }

    /// Returns the scores of the branches that have a new step.
    fn judged(&self, cx: &mut Solve) -> Result<Vec<Result<Judged, AskProblem>>, Stop> {
        let stage = "branch_evaluation";
        let leaves = self.at(&[LeafStage::Developed]);
        let in_table = cx.stage(stage)?.clone();
        let value = |leaf: &&Leaf| questions::value(&in_table, leaf);

        Ok(match &self.settings.evaluation {
            Evaluation::Check(check) => {
                let checked = |leaf: &&Leaf| {
                    let steps: Vec<&str> = leaf.steps.iter().map(String::as_str).collect();
                    Judged {
                        text: String::new(),
                        worth: check(cx.problem(), &steps),
                    }
                };
                leaves.iter().map(|leaf| Ok(checked(leaf))).collect()
            }
            Evaluation::Votes(votes) if leaves.len() > 1 => {
                let vote = questions::vote(&leaves);
                let vote = |number: usize| vote.clone().with_name(format!("vote {number}"));
                let replies = cx.ask_all(stage, (1..=*votes).map(vote).collect())?;
                questions::voted(&replies, leaves.len())
            }
            // A single branch can't be compared.
            Evaluation::Votes(_) => {
                let replies = cx.ask_all(stage, leaves.iter().map(value).collect())?;
                replies.chunks(1).map(questions::valued).collect()
            }
            Evaluation::Values(times) => {
                let values = leaves.iter().flat_map(|leaf| repeat_n(value(leaf), *times));
                let replies = cx.ask_all(stage, values.collect())?;
                replies.chunks(*times).map(questions::valued).collect()
            }
        })
    }

    /// Keeps the steps of the branch with the highest score as the answer until the model gives one.
    fn keep_best(&self, cx: &mut Solve) {
        let best = cx.session().best(1).first().map(|branch| branch.id());
        let leaf = self.leaves.iter().find(|leaf| Some(leaf.branch) == best);
        let leaf = leaf.filter(|leaf| leaf.score() >= self.settings.threshold);

        if let Some(leaf) = leaf {
            // A step that wasn't scored is left out.
            let is_new = leaf.stage == LeafStage::Developed;
            let judged = leaf.steps.len() - usize::from(is_new);
            let steps: Vec<&str> = leaf.steps.iter().map(String::as_str).take(judged).collect();
            cx.keep_guess(&steps.join("\n"));
        }
    }

    /// Chooses the branches to continue with, and prunes those that aren't needed any more.
    pub(super) fn select(&mut self, cx: &mut Solve) -> Result<(), Stop> {
        let judged = self.ordered(self.at(&[LeafStage::Judged]));
        let judged: Vec<BranchId> = judged.iter().map(|leaf| leaf.branch).collect();
        let current = self.chosen().first().map(|leaf| leaf.branch);
        let current = current.or(judged.first().copied());

        let mut kept: BTreeSet<BranchId> = self.kept().iter().map(|leaf| leaf.branch).collect();
        for (branch, text, approach) in self.selected(&judged) {
            let thought = ThoughtDraft::at("branch_selection", text).with(APPROACH, approach);
            cx.add_on(branch, thought)?;
            self.leaf(branch)?.stage = LeafStage::Selected;
            kept.insert(branch);
        }

        if let Some(current) = current {
            cx.session_mut().switch(current)?;
        }
        let left: Vec<BranchId> = judged.into_iter().filter(|id| !kept.contains(id)).collect();
        self.prune_all(cx, &left)
    }

    /// Returns the thoughts about the chosen branches that were just judged: the branch, the text,
    /// and the approach that the text is about. If there are none, the thought on the best judged
    /// branch names the chosen one.
    fn selected(&self, judged: &[BranchId]) -> Vec<(BranchId, String, String)> {
        let chosen = self.chosen();
        let just_judged = chosen.iter().filter(|leaf| leaf.stage == LeafStage::Judged);
        let selected = just_judged.map(|leaf| {
            let text = format!("Chosen with a score of {}.", leaf.score());
            (leaf.branch, text, leaf.approach.clone())
        });
        let selected: Vec<_> = selected.collect();
        if !selected.is_empty() {
            return selected;
        }

        let last = judged.first().copied();
        let last = self.leaves.iter().find(|leaf| Some(leaf.branch) == last);
        let Some(last) = last else {
            return selected;
        };

        let (about, text) = match chosen.first() {
            Some(best) => {
                let (name, score) = (&best.name, best.score());
                let text = format!("`{name}` stays the best, with a score of {score}.");
                (*best, text)
            }
            None => {
                let score = last.score();
                let text =
                    format!("None is good enough; this is the best, with a score of {score}.");
                (last, text)
            }
        };
        vec![(last.branch, text, about.approach.clone())]
    }

    /// Decides how the search continues.
    pub(super) fn decide(&mut self, cx: &mut Solve) -> Result<(Way, String), Stop> {
        let (way, text, current) = self.way();
        let hopeless = self.hopeless();

        let selected = self.leaves.iter_mut();
        for leaf in selected.filter(|leaf| leaf.stage == LeafStage::Selected) {
            let thought = ThoughtDraft::at("continuation_decision", &*text);
            cx.add_on(leaf.branch, thought)?;
            leaf.stage = LeafStage::Decided;
        }

        if let Some(current) = current {
            cx.session_mut().switch(current)?;
        }
        if matches!(way, Way::Develop) {
            self.prune_all(cx, &hopeless)?;
        }
        self.keep_best(cx);
        Ok((way, text))
    }

    /// Returns how the search continues after branches were scored, in words, too, and with which
    /// branch.
    fn way(&self) -> (Way, String, Option<BranchId>) {
        let chosen = self.chosen();
        let untried = self.untried.get(..self.beam()).unwrap_or(&self.untried);
        let open = || (Way::Open, format!("Try {}.", ids(untried)), None);

        let Some(best) = chosen.first() else {
            if !untried.is_empty() {
                return open();
            }
            let threshold = self.settings.threshold;
            let text = format!(
                "every approach was tried, and no branch with a score of {threshold} or more is left"
            );
            return (Way::Exhausted, text, None);
        };

        let further: Vec<_> = chosen.iter().filter(|leaf| self.goes_on(leaf)).collect();
        let name = &best.name;
        let formulate = |text| (Way::Formulate, text, Some(best.branch));
        if best.is_solved {
            return formulate(format!("`{name}` holds the solution."));
        }
        let Some(first) = further.first() else {
            return formulate(format!("`{name}` has come to its end and is the best."));
        };

        let promise = untried.first().map_or(0.0, |approach| approach.promise);
        if self.settings.search == Search::BestFirst && promise > first.score() {
            return open();
        }

        let names: Vec<&str> = further.iter().map(|leaf| leaf.name.as_str()).collect();
        let text = format!("Go on with {}.", names.join(", "));
        (Way::Develop, text, Some(first.branch))
    }

    /// Returns the branches that are only open because they have a thought of the selection about a
    /// different branch.
    fn hopeless(&self) -> Vec<BranchId> {
        let kept: Vec<BranchId> = self.kept().iter().map(|leaf| leaf.branch).collect();
        let selected = self.at(&[LeafStage::Selected, LeafStage::Decided]);
        let branches = selected.iter().map(|leaf| leaf.branch);
        branches.filter(|branch| !kept.contains(branch)).collect()
    }

    fn prune_all(&mut self, cx: &mut Solve, branches: &[BranchId]) -> Result<(), Stop> {
        branches
            .iter()
            .try_for_each(|branch| self.leaf(*branch)?.prune(cx))
    }

    fn current(&self, cx: &Solve) -> Result<&Leaf, Stop> {
        let current = cx.session().current();
        let leaf = self.leaves.iter().find(|leaf| leaf.branch == current);
        leaf.ok_or_else(|| Stop::fail("no branch of the tree was chosen"))
    }

    /// Returns the approach and the steps of the current branch.
    pub(super) fn steps(&self, cx: &Solve) -> Result<&[String], Stop> {
        Ok(&self.current(cx)?.steps)
    }

    /// Compares the score of the current branch with the others.
    pub(super) fn justification(&self, cx: &Solve) -> Result<String, Stop> {
        let current = self.current(cx)?;
        let mut text = format!("`{}` has a score of {}", current.name, current.score());
        if current.is_solved {
            text.push_str(" and is solved");
        }

        let others = self.leaves.iter().filter(|leaf| leaf.score.is_some());
        let mut others: Vec<_> = others
            .filter(|leaf| leaf.branch != current.branch)
            .collect();
        others.sort_by(|one, other| other.score().total_cmp(&one.score()));
        if others.is_empty() {
            text.push_str("; it is the only branch.");
            return Ok(text);
        }

        let scored = |leaf: &&Leaf| format!("`{}` {}", leaf.name, leaf.score());
        let best: Vec<String> = others.iter().take(MAX_OTHERS).map(scored).collect();
        text.push_str(&format!("; best of the others: {}.", best.join(", ")));
        Ok(text)
    }
}

fn ids(approaches: &[Approach]) -> String {
    let ids: Vec<&str> = approaches.iter().map(|approach| &*approach.id).collect();
    ids.join(", ")
}

impl TreeOfThoughts {
    /// Returns the approaches that differ, the most promising first, up to the maximum.
    fn best(&self, mut approaches: Vec<Approach>) -> Vec<Approach> {
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

    /// Returns the steps of a reply that `path` doesn't have yet.
    fn new_steps(&self, path: &[String], reply: &StageReply) -> Vec<String> {
        let proposed = match reply.value() {
            Ok(questions::Proposals { proposals }) => proposals,
            Err(_) => vec![reply.text.clone()],
        };

        let mut known: BTreeSet<String> = path.iter().map(|step| normal_form(step)).collect();
        known.insert("none".to_owned());
        known.insert("nothing".to_owned());

        let steps = proposed.into_iter().map(|step| cut(step.trim()));
        let is_new = |step: &String| !step.is_empty() && known.insert(normal_form(step));
        steps.filter(is_new).take(self.proposals).collect()
    }
}
