//! The tree: branches of approaches, which grow step by step.

use std::iter::{once, repeat_n};

use serde_json::json;

use super::questions::{self, Approach, Approaches, Judged};
use super::{Evaluator, MOST, Search, TreeOfThoughts, Worth};
use crate::methods::shared::or;
use crate::session::{BranchId, ThoughtDraft, ThoughtId};
use crate::{AskProblem, Solve, Stop};

/// The tree of a run.
pub(super) struct Tree {
    settings: TreeOfThoughts,
    /// The thought with the approaches.
    explored: ThoughtId,
    /// The approaches without a branch, the most promising first.
    untried: Vec<Approach>,
    /// The branches with a score that aren't developed at the moment, the best first.
    leaves: Vec<Leaf>,
}

/// An open branch.
#[derive(Clone)]
pub(super) struct Leaf {
    branch: BranchId,
    pub(super) name: String,
    approach: String,
    /// The approach and the steps after it.
    pub(super) steps: Vec<String>,
    worth: Worth,
    /// Whether it was chosen since it has this score.
    is_chosen: bool,
    /// Whether no step may follow.
    has_ended: bool,
}

impl Leaf {
    /// Returns a thought about the approach of the branch.
    fn draft(&self, stage: &str, text: impl Into<String>) -> ThoughtDraft {
        ThoughtDraft::at(stage, text).with("approach_id", &*self.approach)
    }

    /// Returns whether the branch has only its approach.
    fn is_new(&self) -> bool {
        self.steps.len() == 1
    }
}

/// How a search continues.
enum Next {
    /// Opens branches for approaches that weren't tried.
    Open,
    /// Develops these branches. There are none if the best branch is the solution.
    Develop(Vec<Leaf>),
    GiveUp,
}

const DEVELOPMENT: &str = "branch_development";
const EVALUATION: &str = "branch_evaluation";

impl Tree {
    /// Asks for the approaches.
    pub(super) fn explore(settings: TreeOfThoughts, cx: &mut Solve) -> Result<Self, Stop> {
        let stage = "approach_exploration";
        // Asked as one of several, so that it isn't added to the conversation: the questions of a
        // tree are independent.
        let mut replies = cx.ask_all(stage, vec![Approaches::question(&settings)])?;
        let Some(Ok(reply)) = replies.pop() else {
            return Err(Stop::fail("there are no approaches to open a branch for"));
        };

        let untried = reply.best(settings.approaches.clamp(1, MOST));
        let text = format!("Approaches: {}.", ids(&untried));
        let thought = ThoughtDraft::at(stage, or(&reply.thought, &text));
        Ok(Self {
            settings,
            explored: cx.add(thought.with("approaches", json!(untried)))?,
            untried,
            leaves: Vec::new(),
        })
    }

    /// Opens branches for the next approaches.
    pub(super) fn open(&mut self, cx: &mut Solve) -> Result<Vec<Leaf>, Stop> {
        let count = self.beam().min(self.untried.len());
        let mut opened: Vec<Leaf> = Vec::new();

        for approach in self.untried.drain(..count) {
            let leaf = Leaf {
                branch: BranchId::MAIN,
                name: String::new(),
                approach: approach.id,
                steps: vec![approach.description.clone()],
                worth: Worth::hopeless(),
                is_chosen: false,
                has_ended: false,
            };
            let leaf = fork(cx, self.explored, leaf)?;
            let thought = leaf.draft("branch_creation", approach.description);
            cx.add_on(leaf.branch, thought)?;
            opened.push(leaf);
            // The first is the most promising one, which a run that ends here is about.
            switch_to(cx, opened.first())?;
        }
        Ok(opened)
    }

    /// Asks for next steps, and adds them to the branches. Returns the branches that grew, the oldest
    /// first.
    pub(super) fn develop(&mut self, cx: &mut Solve, leaves: Vec<Leaf>) -> Result<Vec<Leaf>, Stop> {
        let most = self.settings.proposals.clamp(1, MOST);
        let questions = leaves.iter();
        let questions = questions.map(|leaf| questions::development(most, leaf));
        let replies = cx.ask_all(DEVELOPMENT, questions.collect())?;

        let mut grown = Vec::new();
        for (leaf, reply) in leaves.into_iter().zip(replies) {
            match reply {
                Ok(reply) => {
                    let steps = questions::new_steps(most, &leaf.steps, &reply);
                    grown.extend(self.grow(cx, leaf, steps)?);
                }
                // Nothing was wrong with the branch, so it still counts as one that was found.
                Err(AskProblem::OutOf(_)) if !leaf.is_new() => self.leaves.push(leaf),
                Err(problem) => abandon(cx, &leaf, "No step could be taken", &problem)?,
            }
        }
        // By age, since they were in the order of their scores.
        grown.sort_by_key(|leaf: &Leaf| leaf.branch);
        Ok(grown)
    }

    /// Adds the first step to the branch, and the others to forks of it.
    fn grow(&mut self, cx: &mut Solve, leaf: Leaf, steps: Vec<String>) -> Result<Vec<Leaf>, Stop> {
        if steps.is_empty() {
            cx.add_on(leaf.branch, ThoughtDraft::here("No step is left to take."))?;
            if leaf.is_new() {
                prune(cx, leaf.branch)?;
            } else {
                let has_ended = true;
                self.leaves.push(Leaf { has_ended, ..leaf });
            }
            return Ok(Vec::new());
        }

        let tip = cx.session().branch(leaf.branch)?.tip();
        let mut grown: Vec<Leaf> = Vec::new();
        for step in steps {
            let mut next = match tip {
                // The first step continues the branch itself, so that a single proposal needs no
                // fork.
                Some(tip) if !grown.is_empty() => fork(cx, tip, leaf.clone())?,
                _ => leaf.clone(),
            };
            cx.add_on(next.branch, leaf.draft(DEVELOPMENT, &*step))?;
            next.steps.push(step);
            next.has_ended = next.steps.len() > self.settings.depth.clamp(1, MAX_DEPTH);
            grown.push(next);
        }
        Ok(grown)
    }

    /// Scores branches, and returns those that have a score.
    pub(super) fn evaluate(&self, cx: &mut Solve, leaves: Vec<Leaf>) -> Result<Vec<Leaf>, Stop> {
        let judged = self.judged(cx, &leaves)?;
        let mut scored = Vec::new();
        let result = leaves
            .into_iter()
            .zip(judged)
            .try_for_each(|(leaf, judged)| {
                match judged {
                    Ok(judged) => scored.push(self.scored(cx, leaf, judged)?),
                    Err(problem) => abandon(cx, &leaf, "This could not be judged", &problem)?,
                }
                Ok(())
            });

        // Of a run that ends here, the scores so far count.
        self.keep_best(cx, &scored);
        result.map(|()| scored)
    }

    /// Returns the scores of branches.
    fn judged(
        &self,
        cx: &mut Solve,
        leaves: &[Leaf],
    ) -> Result<Vec<Result<Judged, AskProblem>>, Stop> {
        let times = match &self.settings.evaluation {
            Evaluator::Check(check) => {
                let judged = leaves.iter().map(|leaf| {
                    let steps: Vec<&str> = leaf.steps.iter().map(String::as_str).collect();
                    Ok((check(cx.problem(), &steps), String::new()))
                });
                return Ok(judged.collect());
            }
            Evaluator::Values(times) => (*times).clamp(1, MOST),
        };

        // All in one batch, so that they are asked at the same time.
        let values = leaves.iter();
        let values = values.flat_map(|leaf| repeat_n(questions::value(leaf), times));
        let values = cx.ask_all(EVALUATION, values.collect())?;
        Ok(values.chunks(times).map(questions::mean).collect())
    }

    /// Adds the score of a branch.
    fn scored(&self, cx: &mut Solve, leaf: Leaf, judged: Judged) -> Result<Leaf, Stop> {
        let (mut worth, text) = judged;
        let otherwise = match worth.is_solved {
            true => "This is solved.",
            false => "This is judged.",
        };
        let thought = leaf.draft(EVALUATION, or(&text, otherwise));
        cx.add_on(leaf.branch, thought.with("evaluation_score", worth.score))?;
        cx.session_mut().score(leaf.branch, worth.score)?;

        // If a branch is both solved and below the threshold, the model made a mistake.
        worth.is_solved &= worth.score >= self.settings.threshold;
        Ok(Leaf {
            worth,
            is_chosen: false,
            ..leaf
        })
    }

    /// Keeps the steps of the branch with the highest score as the answer until the model gives one.
    fn keep_best(&self, cx: &mut Solve, scored: &[Leaf]) {
        let leaves = self.leaves.iter().chain(scored);
        let good = leaves.filter(|leaf| leaf.worth.score >= self.settings.threshold);
        // Of equal scores, that of the older branch counts.
        let by_score = |one: &&Leaf, other: &&Leaf| {
            let by_age = other.branch.cmp(&one.branch);
            one.worth.score.total_cmp(&other.worth.score).then(by_age)
        };
        if let Some(best) = good.max_by(by_score) {
            cx.keep_guess(&best.steps.join("\n"));
        }
    }

    /// Prunes the branches that aren't worth following, and decides how the search continues. Returns
    /// the branches that are developed next. There are none if the best branch is the solution.
    pub(super) fn choose(&mut self, cx: &mut Solve, judged: Vec<Leaf>) -> Result<Vec<Leaf>, Stop> {
        self.leaves.extend(judged);
        self.sort();
        for leaf in self.take_hopeless() {
            prune(cx, leaf.branch)?;
        }

        // A branch goes on from a decision. One that was chosen before has its decision already.
        let beam = self.beam();
        let mut chosen = Vec::new();
        let leaves = self.leaves.iter_mut().take(beam);
        for leaf in leaves.filter(|leaf| !leaf.is_chosen) {
            let text = format!("Chosen with a score of {}.", leaf.worth.score);
            cx.add_on(leaf.branch, leaf.draft("branch_selection", text))?;
            leaf.is_chosen = true;
            chosen.push(leaf.branch);
        }

        let (next, text) = self.decide();
        // By age, as in every other stage.
        chosen.sort_unstable();
        for branch in chosen {
            cx.add_on(branch, ThoughtDraft::at("continuation_decision", &*text))?;
        }
        self.keep_best(cx, &[]);

        match next {
            Next::Open => self.open(cx),
            Next::GiveUp => Err(Stop::give_up(text)),
            Next::Develop(growing) => {
                let current = growing.first().or(self.leaves.first());
                switch_to(cx, current)?;
                let grows = |leaf: &Leaf| growing.iter().any(|other| other.branch == leaf.branch);
                self.leaves.retain(|leaf| !grows(leaf));
                Ok(growing)
            }
        }
    }

    /// Returns how many branches are developed at once.
    fn beam(&self) -> usize {
        match self.settings.search {
            Search::BreadthFirst { beam_width } => beam_width.clamp(1, MOST),
            Search::DepthFirst | Search::BestFirst => 1,
        }
    }

    /// Sorts the branches: solved ones first, then by depth if the search is depth first, then by
    /// score. Of equal branches, the older one comes first.
    fn sort(&mut self) {
        let is_depth_first = self.settings.search == Search::DepthFirst;
        let depth = |leaf: &Leaf| if is_depth_first { leaf.steps.len() } else { 0 };

        self.leaves.sort_by(|one, other| {
            let by_solved = other.worth.is_solved.cmp(&one.worth.is_solved);
            let by_depth = depth(other).cmp(&depth(one));
            let by_score = other.worth.score.total_cmp(&one.worth.score);
            let by_age = one.branch.cmp(&other.branch);
            by_solved.then(by_depth).then(by_score).then(by_age)
        });
    }

    /// Takes out the branches that aren't good enough, or aren't in the beam if there is one.
    fn take_hopeless(&mut self) -> Vec<Leaf> {
        let leaves = std::mem::take(&mut self.leaves).into_iter();
        let (mut good, mut hopeless): (Vec<Leaf>, Vec<Leaf>) =
            leaves.partition(|leaf| leaf.worth.score >= self.settings.threshold);

        if let Search::BreadthFirst { .. } = self.settings.search {
            // Only a beam gives up branches that are good enough.
            hopeless.extend(good.drain(self.beam().min(good.len())..));
        }
        self.leaves = good;
        hopeless
    }

    /// Returns how the search continues, also in words.
    fn decide(&self) -> (Next, String) {
        let untried = self.untried.get(..self.beam()).unwrap_or(&self.untried);
        let open = || (Next::Open, format!("Try {}.", ids(untried)));
        let stop = |text| (Next::Develop(Vec::new()), text);

        let threshold = self.settings.threshold;
        let Some(best) = self.leaves.first() else {
            let exhausted = format!(
                "every approach was tried, and no branch with a score of {threshold} or more is left"
            );
            return match untried.is_empty() {
                false => open(),
                true => (Next::GiveUp, exhausted),
            };
        };

        let name = &best.name;
        if best.worth.is_solved {
            return stop(format!("`{name}` holds the solution."));
        }
        let chosen = self.leaves.iter().take(self.beam());
        let growing: Vec<Leaf> = chosen.filter(|leaf| !leaf.has_ended).cloned().collect();
        let Some(first) = growing.first() else {
            return stop(format!("`{name}` has come to its end and is the best."));
        };

        let promise = untried.first().map_or(0.0, |approach| approach.promise);
        if self.settings.search == Search::BestFirst && promise > first.worth.score {
            return open();
        }

        let names: Vec<&str> = growing.iter().map(|leaf| leaf.name.as_str()).collect();
        let text = format!("Go on with {}.", names.join(", "));
        (Next::Develop(growing), text)
    }

    /// Returns the approach and the steps of the best branch.
    pub(super) fn best_steps(&self) -> &[String] {
        self.leaves.first().map_or(&[], |best| &best.steps)
    }

    /// Returns why the best branch was chosen. The session has the scores of the others.
    pub(super) fn justification(&self) -> String {
        match self.leaves.first() {
            Some(Leaf { name, worth, .. }) if worth.is_solved => {
                format!("`{name}` is solved, with a score of {}.", worth.score)
            }
            Some(Leaf { name, worth, .. }) => {
                format!("`{name}` has the best score, {}.", worth.score)
            }
            None => String::new(),
        }
    }
}

/// The maximum number of steps of a branch.
const MAX_DEPTH: usize = 50;

/// Prunes a branch for which the model couldn't be asked, unless the run is about to end.
fn abandon(cx: &mut Solve, leaf: &Leaf, what: &str, problem: &AskProblem) -> Result<(), Stop> {
    // What is left of the limits may still be enough for the conclusion, which needs the branches.
    if matches!(problem, AskProblem::OutOf(_)) {
        return Ok(());
    }

    let remark = ThoughtDraft::here(format!("{what}: {problem}"));
    cx.add_on(leaf.branch, remark)?;
    prune(cx, leaf.branch)
}

fn prune(cx: &mut Solve, branch: BranchId) -> Result<(), Stop> {
    let session = cx.session_mut();
    // A session refuses to prune the branch that it is on.
    if session.current() == branch {
        session.switch(BranchId::MAIN)?;
    }

    Ok(session.prune(branch)?)
}

fn switch_to(cx: &mut Solve, leaf: Option<&Leaf>) -> Result<(), Stop> {
    match leaf {
        Some(leaf) => Ok(cx.session_mut().switch(leaf.branch)?),
        None => Ok(()),
    }
}

/// The maximum number of characters of an approach that go into the name of a branch.
const MAX_NAME: usize = 40;

/// Opens a branch that begins like another one. It has the name of the approach, with a number after
/// it if the name is taken.
fn fork(cx: &mut Solve, from: ThoughtId, like: Leaf) -> Result<Leaf, Stop> {
    let base: String = like.approach.chars().take(MAX_NAME).collect();
    let base = base.trim();

    // The branch without a number is the first one.
    let numbered = (2_u32..).map(|number| format!("{base}-{number}"));
    let mut names = once(base.to_owned()).chain(numbered);
    let is_free = |name: &String| cx.session().branch_named(name).is_none();
    let name = names.find(is_free).unwrap_or_default();

    let branch = cx.session_mut().fork(from, &*name)?;
    Ok(Leaf {
        branch,
        name,
        ..like
    })
}

fn ids(approaches: &[Approach]) -> String {
    let ids: Vec<&str> = approaches.iter().map(|approach| &*approach.id).collect();
    ids.join(", ")
}
