//! The tree: branches of approaches, which grow step by step.

use std::iter::{once, repeat_n};

use cogwork_text::is_invisible;
use serde_json::json;

use super::questions::{self, Approach, Approaches, Judged};
use super::{Evaluation, Search, TreeOfThoughts, Worth};
use crate::methods::shared::or;
use crate::{AskProblem, Branch, BranchId, Session, Solve, Stop, Thought, ThoughtDraft, ThoughtId};

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
    worth: Option<Worth>,
    /// Whether it was selected, or compared with the selected one, since it has this score.
    is_selected: bool,
    /// Whether no step is left to take.
    has_ended: bool,
}

/// How the search continues.
enum Way {
    /// With the best branches that can grow.
    Develop,
    /// With approaches that weren't tried.
    Open,
    /// With the solution of the best branch.
    Formulate,
    /// No branch and no approach is left.
    GiveUp,
}

const DEVELOPMENT: &str = "branch_development";
const EVALUATION: &str = "branch_evaluation";

impl Leaf {
    /// Returns a thought about the approach of the branch.
    fn draft(&self, stage: &str, text: impl Into<String>) -> ThoughtDraft {
        ThoughtDraft::at(stage, text).with("approach_id", &*self.approach)
    }

    fn score(&self) -> f64 {
        self.worth.map_or(0.0, |worth| worth.score)
    }

    fn is_solved(&self) -> bool {
        self.worth.is_some_and(|worth| worth.is_solved)
    }

    /// Returns the thought that chooses the branch.
    fn selection(&self) -> (BranchId, ThoughtDraft) {
        let text = format!("Chosen with a score of {}.", self.score());
        (self.branch, self.draft("branch_selection", text))
    }

    /// Returns the thought about the best branch on another one.
    fn comparison(&self, is_hopeless: bool) -> ThoughtDraft {
        let (name, score) = (&self.name, self.score());
        let text = match is_hopeless {
            true => format!("None is good enough; this is the best, with a score of {score}."),
            false => format!("`{name}` stays the best, with a score of {score}."),
        };
        self.draft("branch_selection", text)
    }

    fn depth(&self) -> usize {
        self.steps.len().saturating_sub(1)
    }
}

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

        let untried = reply.best(settings.approaches);
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
            let (branch, name) = fork(cx, self.explored, &approach.id)?;
            let leaf = Leaf {
                branch,
                name,
                approach: approach.id,
                steps: vec![approach.description.clone()],
                worth: None,
                is_selected: false,
                has_ended: false,
            };
            cx.add_on(branch, leaf.draft("branch_creation", approach.description))?;
            opened.push(leaf);
            switch_to(cx, opened.first())?;
        }
        Ok(opened)
    }

    /// Asks for next steps, and adds them to the branches. Returns the branches that grew, the oldest
    /// first.
    pub(super) fn develop(&mut self, cx: &mut Solve, leaves: Vec<Leaf>) -> Result<Vec<Leaf>, Stop> {
        let most = self.settings.proposals;
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
                Err(problem) => {
                    abandon(cx, leaf.branch, "No step could be taken", &problem)?;
                    let is_open = matches!(problem, AskProblem::OutOf(_));
                    self.leaves
                        .extend(Some(leaf).filter(|leaf| is_open && leaf.worth.is_some()));
                }
            }
        }
        grown.sort_by_key(|leaf: &Leaf| leaf.branch);
        Ok(grown)
    }

    /// Adds the first step to the branch, and the others to forks of it.
    fn grow(&mut self, cx: &mut Solve, leaf: Leaf, steps: Vec<String>) -> Result<Vec<Leaf>, Stop> {
        if steps.is_empty() {
            cx.add_on(leaf.branch, ThoughtDraft::here("No step is left to take."))?;
            match leaf.worth {
                None => prune(cx, leaf.branch)?,
                Some(_) => self.leaves.push(Leaf {
                    has_ended: true,
                    ..leaf
                }),
            }
            return Ok(Vec::new());
        }

        let tip = cx.session().branch(leaf.branch)?.tip();
        let mut grown: Vec<Leaf> = Vec::new();
        for step in steps {
            let (branch, name) = match tip {
                Some(tip) if !grown.is_empty() => fork(cx, tip, &leaf.approach)?,
                _ => (leaf.branch, leaf.name.clone()),
            };
            let mut next = Leaf {
                branch,
                name,
                worth: None,
                is_selected: false,
                ..leaf.clone()
            };
            cx.add_on(branch, leaf.draft(DEVELOPMENT, &*step))?;
            next.steps.push(step);
            grown.push(next);
        }
        Ok(grown)
    }

    /// Scores branches, and returns those that have a score.
    pub(super) fn evaluate(&self, cx: &mut Solve, leaves: Vec<Leaf>) -> Result<Vec<Leaf>, Stop> {
        let judged = self.judged(cx, &leaves)?;
        let scored = leaves.into_iter().zip(judged);
        let scored: Result<Vec<_>, Stop> = scored
            .map(|(leaf, judged)| self.scored(cx, leaf, judged))
            .collect();

        // Of a run that ends here, the scores so far count.
        self.keep_best(cx);
        Ok(scored?.into_iter().flatten().collect())
    }

    /// Returns the scores of branches.
    fn judged(
        &self,
        cx: &mut Solve,
        leaves: &[Leaf],
    ) -> Result<Vec<Result<Judged, AskProblem>>, Stop> {
        let times = match &self.settings.evaluation {
            Evaluation::Check(check) => {
                let judged = leaves.iter().map(|leaf| {
                    let steps: Vec<&str> = leaf.steps.iter().map(String::as_str).collect();
                    Ok((check(cx.problem(), &steps), String::new()))
                });
                return Ok(judged.collect());
            }
            Evaluation::Votes(times) if leaves.len() > 1 => {
                let vote = questions::vote(leaves);
                let vote = |number| vote.clone().with_name(format!("vote {number}"));
                let votes = cx.ask_all(EVALUATION, (1..=*times).map(vote).collect())?;
                return Ok(questions::shares(&votes, leaves.len()));
            }
            // A single branch can't be compared.
            Evaluation::Votes(_) => 1,
            Evaluation::Values(times) => *times,
        };

        let values = leaves.iter();
        let values = values.flat_map(|leaf| repeat_n(questions::value(leaf), times));
        let values = cx.ask_all(EVALUATION, values.collect())?;
        Ok(values.chunks(times).map(questions::mean).collect())
    }

    /// Adds the score of a branch. One without a score is abandoned.
    fn scored(
        &self,
        cx: &mut Solve,
        leaf: Leaf,
        judged: Result<Judged, AskProblem>,
    ) -> Result<Option<Leaf>, Stop> {
        let (mut worth, text) = match judged {
            Ok(judged) => judged,
            Err(problem) => {
                abandon(cx, leaf.branch, "This could not be judged", &problem)?;
                return Ok(None);
            }
        };

        let otherwise = match worth.is_solved {
            true => "This is solved.",
            false => "This is judged.",
        };
        let thought = leaf.draft(EVALUATION, or(&text, otherwise));
        cx.add_on(leaf.branch, thought.with("evaluation_score", worth.score))?;
        cx.session_mut().score(leaf.branch, worth.score)?;

        // If a branch is both solved and below the threshold, the model made a mistake.
        worth.is_solved &= worth.score >= self.settings.threshold;
        let worth = Some(worth);
        Ok(Some(Leaf { worth, ..leaf }))
    }

    /// Chooses the branches to continue with, prunes those that aren't needed any more, and returns
    /// the branches that are developed next. There are none if the best branch has the solution.
    pub(super) fn choose(&mut self, cx: &mut Solve, judged: Vec<Leaf>) -> Result<Vec<Leaf>, Stop> {
        self.leaves.extend(judged);
        self.sort();
        let judged = self.leaves.iter().find(|leaf| !leaf.is_selected).cloned();
        let mut left = self.keep_the_best();
        let selected = self.select(cx, judged.as_ref(), &mut left)?;
        // A branch that was compared with a selected one stays open for the decision.
        let (hopeless, needless): (Vec<Leaf>, Vec<Leaf>) =
            left.into_iter().partition(|leaf| leaf.is_selected);
        prune_all(cx, &needless)?;

        let (way, text) = self.way();
        for branch in selected {
            cx.add_on(branch, ThoughtDraft::at("continuation_decision", &*text))?;
        }
        self.keep_best(cx);

        let growing = match way {
            Way::GiveUp => return Err(Stop::give_up(text)),
            Way::Formulate => {
                switch_to(cx, self.leaves.first())?;
                return Ok(Vec::new());
            }
            Way::Develop => self.take_growing(),
            Way::Open => Vec::new(),
        };
        switch_to(cx, growing.first())?;
        prune_all(cx, &hopeless)?;
        match growing.is_empty() {
            true => self.open(cx),
            false => Ok(growing),
        }
    }

    /// Keeps the branches that may be followed, the best first: those in the beam if there is one, or
    /// all that are good enough. Returns the others.
    fn keep_the_best(&mut self) -> Vec<Leaf> {
        let leaves = std::mem::take(&mut self.leaves).into_iter();
        let (mut kept, mut left): (Vec<Leaf>, Vec<Leaf>) =
            leaves.partition(|leaf| leaf.score() >= self.settings.threshold);

        if let Search::BreadthFirst { beam_width } = self.settings.search {
            left.extend(kept.drain(beam_width.min(kept.len())..));
        }
        self.leaves = kept;
        left
    }

    /// Sorts the branches: solved ones first, then by depth if the search is depth first, then by
    /// score. Of equal branches, the older one comes first.
    fn sort(&mut self) {
        let is_depth_first = self.settings.search == Search::DepthFirst;
        let depth = |leaf: &Leaf| if is_depth_first { leaf.depth() } else { 0 };

        self.leaves.sort_by(|one, other| {
            let by_solved = other.is_solved().cmp(&one.is_solved());
            let by_depth = depth(other).cmp(&depth(one));
            let by_score = other.score().total_cmp(&one.score());
            let by_age = one.branch.cmp(&other.branch);
            by_solved.then(by_depth).then(by_score).then(by_age)
        });
    }

    /// Adds a thought on each chosen branch that wasn't selected yet. If there are none, the best of
    /// the `judged` branches has a thought about the chosen one. Returns the branches with a thought,
    /// the oldest first.
    fn select(
        &mut self,
        cx: &mut Solve,
        judged: Option<&Leaf>,
        left: &mut [Leaf],
    ) -> Result<Vec<BranchId>, Stop> {
        let chosen = self.leaves.iter().take(self.beam());
        let best = chosen.clone().next().or(judged).cloned();
        let new = chosen.filter(|leaf| !leaf.is_selected);
        let mut thoughts: Vec<(BranchId, ThoughtDraft)> = new.map(Leaf::selection).collect();
        if let (true, Some(judged), Some(best)) = (thoughts.is_empty(), judged, &best) {
            thoughts.push((judged.branch, best.comparison(self.leaves.is_empty())));
        }

        let mut selected = Vec::new();
        for (branch, thought) in thoughts {
            cx.add_on(branch, thought)?;
            selected.push(branch);
        }
        for leaf in self.leaves.iter_mut().chain(left) {
            leaf.is_selected |= selected.contains(&leaf.branch);
        }
        switch_to(cx, best.as_ref())?;
        selected.sort_unstable();
        Ok(selected)
    }

    /// Returns how the search continues after branches were scored, in words, too.
    fn way(&self) -> (Way, String) {
        let untried = self.untried.get(..self.beam()).unwrap_or(&self.untried);
        let open = || (Way::Open, format!("Try {}.", ids(untried)));

        let Some(best) = self.leaves.first() else {
            if !untried.is_empty() {
                return open();
            }
            let threshold = self.settings.threshold;
            let text = format!(
                "every approach was tried, and no branch with a score of {threshold} or more is left"
            );
            return (Way::GiveUp, text);
        };

        let name = &best.name;
        if best.is_solved() {
            return (Way::Formulate, format!("`{name}` holds the solution."));
        }
        let chosen = self.leaves.iter().take(self.beam());
        let growing: Vec<&Leaf> = chosen.filter(|leaf| self.may_grow(leaf)).collect();
        let Some(first) = growing.first() else {
            let text = format!("`{name}` has come to its end and is the best.");
            return (Way::Formulate, text);
        };

        let promise = untried.first().map_or(0.0, |approach| approach.promise);
        if self.settings.search == Search::BestFirst && promise > first.score() {
            return open();
        }

        let names: Vec<&str> = growing.iter().map(|leaf| leaf.name.as_str()).collect();
        (Way::Develop, format!("Go on with {}.", names.join(", ")))
    }

    /// Returns how many branches are developed at once.
    fn beam(&self) -> usize {
        match self.settings.search {
            Search::BreadthFirst { beam_width } => beam_width,
            Search::DepthFirst | Search::BestFirst => 1,
        }
    }

    fn may_grow(&self, leaf: &Leaf) -> bool {
        !leaf.has_ended && leaf.depth() < self.settings.depth
    }

    /// Takes the chosen branches that can grow.
    fn take_growing(&mut self) -> Vec<Leaf> {
        let chosen = self.beam().min(self.leaves.len());
        let chosen: Vec<Leaf> = self.leaves.drain(..chosen).collect();
        let (growing, ended): (Vec<Leaf>, Vec<Leaf>) =
            chosen.into_iter().partition(|leaf| self.may_grow(leaf));
        self.leaves.extend(ended);
        growing
    }

    /// Keeps the steps of the branch with the highest score as the answer until the model gives one.
    fn keep_best(&self, cx: &mut Solve) {
        let session = cx.session();
        let best = session.best(1);
        let Some(best) = best
            .first()
            .filter(|best| best.score() >= Some(self.settings.threshold))
        else {
            return;
        };

        // A step that wasn't scored is left out.
        let judged = session.path(best.tip());
        let judged = judged.skip_while(|thought| thought.stage() != EVALUATION);
        let is_step =
            |thought: &&Thought| ["branch_creation", DEVELOPMENT].contains(&thought.stage());
        let mut steps: Vec<&str> = judged.filter(is_step).map(Thought::text).collect();
        steps.reverse();
        let steps = steps.join("\n");
        cx.keep_guess(&steps);
    }

    /// Returns the approach and the steps of the best branch.
    pub(super) fn best_steps(&self) -> &[String] {
        self.leaves.first().map_or(&[], |best| &best.steps)
    }

    /// Compares the score of the best branch with those of the others.
    pub(super) fn justification(&self, cx: &Solve) -> String {
        let Some(best) = self.leaves.first() else {
            return String::new();
        };
        let mut text = format!("`{}` has a score of {}", best.name, best.score());
        if best.is_solved() {
            text.push_str(" and is solved");
        }

        let branches = cx.session().branches().iter();
        let others = branches.filter(|branch| branch.id() != best.branch);
        let mut others: Vec<(f64, &Branch)> = others
            .filter_map(|branch| Some((branch.score()?, branch)))
            .collect();
        others.sort_by(|(one, _), (other, _)| other.total_cmp(one));
        let scores = others.iter().take(MAX_OTHERS);
        let scores = scores.map(|(score, branch)| format!("`{}` {score}", branch.name()));
        let scores: Vec<String> = scores.collect();

        match scores.is_empty() {
            true => format!("{text}; it is the only branch."),
            false => format!("{text}; best of the others: {}.", scores.join(", ")),
        }
    }
}

/// The maximum number of other branches that a justification names.
const MAX_OTHERS: usize = 5;

/// Prunes a branch for which the model couldn't be asked, unless the run is about to end.
fn abandon(cx: &mut Solve, branch: BranchId, what: &str, problem: &AskProblem) -> Result<(), Stop> {
    if matches!(problem, AskProblem::OutOf(_)) {
        return Ok(());
    }

    cx.add_on(branch, ThoughtDraft::here(format!("{what}: {problem}")))?;
    prune(cx, branch)
}

fn prune_all(cx: &mut Solve, leaves: &[Leaf]) -> Result<(), Stop> {
    leaves.iter().try_for_each(|leaf| prune(cx, leaf.branch))
}

fn prune(cx: &mut Solve, branch: BranchId) -> Result<(), Stop> {
    let session = cx.session_mut();
    if session.current() == branch {
        session.switch(BranchId::MAIN)?;
    }

    Ok(session.prune(branch)?)
}

fn switch_to(cx: &mut Solve, leaf: Option<&Leaf>) -> Result<(), Stop> {
    if let Some(leaf) = leaf {
        cx.session_mut().switch(leaf.branch)?;
    }
    Ok(())
}

/// Opens a branch for an approach, and returns its name, too.
fn fork(cx: &mut Solve, from: ThoughtId, approach: &str) -> Result<(BranchId, String), Stop> {
    let name = free_name(cx.session(), approach);
    let branch = cx.session_mut().fork(from, &*name)?;
    Ok((branch, name))
}

/// The maximum number of characters of an approach that go into the name of a branch.
const MAX_NAME: usize = 40;

/// Returns a name for a branch of an approach, with a number after it if the name is taken.
fn free_name(session: &Session, approach: &str) -> String {
    let letters = approach.chars().filter(|letter| !is_invisible(*letter));
    let short: String = letters.take(MAX_NAME).collect();
    let base = match short.trim() {
        "" => "approach",
        name => name,
    };

    let numbered = (2_u32..).map(|number| format!("{base}-{number}"));
    once(base.to_owned())
        .chain(numbered)
        .find(|name| session.branch_named(name).is_none())
        .unwrap_or_default()
}

fn ids(approaches: &[Approach]) -> String {
    let ids: Vec<&str> = approaches.iter().map(|approach| &*approach.id).collect();
    ids.join(", ")
}
