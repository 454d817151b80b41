//! The tree, which is derived from the session in every turn, so that it is the same in a resumed
//! run.

use std::cmp::{Ordering, Reverse};

use super::approach::{Approach, approaches};
use super::names::{APPROACH, APPROACHES, TreeStage};
use super::settings::{Search, TreeOfThoughts};
use super::way::Way;
use crate::drivers::stage_names::StageName;
use crate::{Branch, BranchId, BranchStatus, Session, Solving, Thought, ThoughtKind};

/// The note with the branches that contain the complete solution.
pub(super) const SOLVED: &str = "solved";

/// The note with the branches without further steps.
pub(super) const ENDED: &str = "ended";

/// The maximum number of other branches that a justification names.
const MAX_OTHERS: usize = 5;

/// The tree of a run.
pub(super) struct Tree<'a> {
    settings: &'a TreeOfThoughts,
    solving: &'a Solving,
}

impl<'a> Tree<'a> {
    pub(super) fn new(settings: &'a TreeOfThoughts, solving: &'a Solving) -> Self {
        Self { settings, solving }
    }

    fn session(&self) -> &'a Session {
        self.solving.session()
    }

    pub(super) fn problem(&self) -> &'a str {
        self.solving.problem()
    }

    /// Returns the open branches whose last thought is in one of the `stages`, the oldest
    /// first.
    fn at(&self, stages: &[TreeStage]) -> Vec<BranchId> {
        let session = self.session();
        let is_at = |branch: &&Branch| {
            let Ok(at) = session.stage_on(branch.id()) else {
                return false;
            };

            let is_in_stage = stages.iter().any(|stage| stage.name() == at.name());
            is_in_stage && branch.status() == BranchStatus::Open
        };

        session
            .branches()
            .iter()
            .filter(is_at)
            .map(Branch::id)
            .collect()
    }

    /// Returns the thoughts from the last one of a branch back to the first.
    fn path(&self, branch: BranchId) -> impl Iterator<Item = &'a Thought> {
        let tip = self.session().branch(branch).ok().and_then(Branch::tip);
        self.session().path(tip)
    }

    /// Returns the approach and the steps after it, the oldest first.
    pub(super) fn steps(&self, branch: BranchId) -> Vec<&'a str> {
        steps(self.path(branch))
    }

    /// Returns the number of steps on a branch.
    fn depth(&self, branch: BranchId) -> usize {
        self.path(branch)
            .filter(|thought| TreeStage::BranchDevelopment.is_stage_of(thought))
            .count()
    }

    /// Returns the name of a branch's approach.
    pub(super) fn approach(&self, branch: BranchId) -> &'a str {
        let mut path = self.path(branch);
        let created = path.find(|thought| TreeStage::BranchCreation.is_stage_of(thought));
        created.and_then(approach_of).unwrap_or_default()
    }

    pub(super) fn name(&self, branch: BranchId) -> &'a str {
        self.session().branch(branch).map_or("", Branch::name)
    }

    pub(super) fn score(&self, branch: BranchId) -> f64 {
        self.session()
            .branch(branch)
            .ok()
            .and_then(Branch::score)
            .unwrap_or_default()
    }

    fn is_marked(&self, mark: &str, branch: BranchId) -> bool {
        marked(self.solving, mark).contains(&branch.get())
    }

    /// Returns whether a branch is not developed any further.
    fn is_leaf(&self, branch: BranchId) -> bool {
        self.is_marked(SOLVED, branch)
            || self.is_marked(ENDED, branch)
            || self.depth(branch) >= self.settings.depth
    }

    /// Returns the thought with the approaches.
    pub(super) fn explored(&self) -> Option<&'a Thought> {
        let mut thoughts = self.session().thoughts().iter();
        thoughts.find(|thought| TreeStage::ApproachExploration.is_stage_of(thought))
    }

    /// Returns the approaches without a branch, the most promising first.
    fn untried(&self) -> Vec<Approach> {
        let thoughts = self.session().thoughts().iter();
        let created = thoughts.filter(|thought| TreeStage::BranchCreation.is_stage_of(thought));
        let tried: Vec<&str> = created.filter_map(approach_of).collect();

        let explored = self
            .explored()
            .and_then(|thought| thought.parameter(APPROACHES));
        let mut approaches = approaches(explored);
        approaches.retain(|approach| !tried.contains(&approach.id.as_str()));

        approaches
    }

    /// Returns the approaches that are opened next.
    pub(super) fn to_open(&self) -> Vec<Approach> {
        let mut approaches = self.untried();
        approaches.truncate(self.beam());
        approaches
    }

    /// Returns the ids of the approaches that are opened next.
    pub(super) fn to_open_ids(&self) -> Vec<String> {
        self.to_open()
            .into_iter()
            .map(|approach| approach.id)
            .collect()
    }

    /// Returns how many branches are developed at once.
    fn beam(&self) -> usize {
        match self.settings.search {
            Search::BreadthFirst { beam_width } => beam_width,
            Search::DepthFirst | Search::BestFirst => 1,
        }
    }

    /// Returns the branches that are developed: those just opened, or else those that were chosen.
    pub(super) fn to_develop(&self) -> Vec<BranchId> {
        let opened = self.at(&[TreeStage::BranchCreation]);
        if !opened.is_empty() {
            return opened;
        }

        let ready = self.at(&[TreeStage::ContinuationDecision]);
        let mut chosen = self.chosen();
        chosen.retain(|branch| ready.contains(branch) && !self.is_leaf(*branch));

        chosen
    }

    /// Returns the branches with an unscored step.
    pub(super) fn to_evaluate(&self) -> Vec<BranchId> {
        self.at(&[TreeStage::BranchDevelopment])
    }

    /// Returns the branches that were scored and not selected since, the best first.
    pub(super) fn judged(&self) -> Vec<BranchId> {
        self.ordered(self.at(&[TreeStage::BranchEvaluation]))
    }

    /// Returns the branches with a thought of the selection.
    pub(super) fn selected(&self) -> Vec<BranchId> {
        self.at(&[TreeStage::BranchSelection])
    }

    /// Returns all branches that may be followed, the best first.
    fn frontier(&self) -> Vec<BranchId> {
        const JUDGED: [TreeStage; 3] = [
            TreeStage::BranchEvaluation,
            TreeStage::BranchSelection,
            TreeStage::ContinuationDecision,
        ];

        let mut frontier = self.ordered(self.at(&JUDGED));
        frontier.retain(|branch| self.score(*branch) >= self.settings.threshold);
        frontier
    }

    /// Sorts branches: solved ones first, then by depth if the search is depth first, then by
    /// score.
    fn ordered(&self, branches: Vec<BranchId>) -> Vec<BranchId> {
        let mut ranked: Vec<Ranked> = branches
            .into_iter()
            .map(|branch| self.rank(branch))
            .collect();

        // The sort is stable: of equal branches, the older one comes first.
        ranked.sort_by(Ranked::best_first);
        ranked.into_iter().map(|ranked| ranked.branch).collect()
    }

    fn rank(&self, branch: BranchId) -> Ranked {
        let is_depth_first = self.settings.search == Search::DepthFirst;

        Ranked {
            branch,
            solved: self.is_marked(SOLVED, branch),
            depth: if is_depth_first {
                self.depth(branch)
            } else {
                0
            },
            score: self.score(branch),
        }
    }

    /// Returns the branches to continue with, the best first.
    pub(super) fn chosen(&self) -> Vec<BranchId> {
        let mut chosen = self.frontier();
        chosen.truncate(self.beam());
        chosen
    }

    /// Returns the branches that may still be followed: those in the beam if there is one, or all
    /// that are good enough.
    pub(super) fn kept(&self) -> Vec<BranchId> {
        match self.settings.search {
            Search::BreadthFirst { .. } => self.chosen(),
            Search::DepthFirst | Search::BestFirst => self.frontier(),
        }
    }

    /// Returns the branches that are only open because they have a thought of the selection about a
    /// different branch.
    pub(super) fn hopeless(&self) -> Vec<BranchId> {
        let kept = self.kept();
        let mut branches = self.at(&[TreeStage::BranchSelection, TreeStage::ContinuationDecision]);
        branches.retain(|branch| !kept.contains(branch));

        branches
    }

    /// Returns how the search continues after branches were scored.
    pub(super) fn way(&self) -> Way {
        let chosen = self.chosen();
        let untried = self.to_open();
        let open = || Way::Open {
            ids: self.to_open_ids(),
        };

        let Some(best) = chosen.first().copied() else {
            if !untried.is_empty() {
                return open();
            }
            return Way::Exhausted {
                threshold: self.settings.threshold,
            };
        };

        let solved = self.is_marked(SOLVED, best);
        let formulate = || Way::Formulate {
            branch: best,
            name: self.name(best).to_owned(),
            solved,
        };

        if solved {
            return formulate();
        }

        let further: Vec<BranchId> = chosen
            .into_iter()
            .filter(|branch| !self.is_leaf(*branch))
            .collect();
        let Some(first) = further.first().copied() else {
            return formulate();
        };

        let promise = untried.first().map_or(0.0, |approach| approach.promise);
        if self.settings.search == Search::BestFirst && promise > self.score(first) {
            return open();
        }

        let names = further.iter().map(|branch| self.name(*branch).to_owned());
        Way::Develop {
            first,
            names: names.collect(),
        }
    }

    /// Returns the content of the branch with the highest score, up to the last step that was
    /// scored.
    pub(super) fn best_steps(&self) -> Option<String> {
        let best = self.session().best(1).first().map(|branch| branch.id())?;
        if self.score(best) < self.settings.threshold {
            return None;
        }

        let path = self.path(best);
        let judged = path.skip_while(|thought| TreeStage::BranchDevelopment.is_stage_of(thought));
        Some(steps(judged).join("\n")).filter(|steps| !steps.is_empty())
    }

    /// Compares the score of the current branch with the others.
    pub(super) fn justification(&self) -> String {
        let current = self.session().current();
        let mut text = format!(
            "`{}` has a score of {}",
            self.name(current),
            self.score(current)
        );

        if self.is_marked(SOLVED, current) {
            text.push_str(" and is solved");
        }

        let others = self.scored_except(current);
        if others.is_empty() {
            text.push_str("; it is the only branch.");
            return text;
        }

        let scored =
            |branch: &BranchId| format!("`{}` {}", self.name(*branch), self.score(*branch));
        let best: Vec<String> = others.iter().take(MAX_OTHERS).map(scored).collect();
        text.push_str(&format!("; best of the others: {}.", best.join(", ")));

        text
    }

    /// Returns the branches that have a score, the best first, without `current`.
    fn scored_except(&self, current: BranchId) -> Vec<BranchId> {
        let branches = self.session().branches().iter();
        let scored = branches
            .filter(|branch| branch.score().is_some())
            .map(Branch::id);

        let mut others: Vec<BranchId> = scored.filter(|branch| *branch != current).collect();
        others.sort_by(|one, other| self.score(*other).total_cmp(&self.score(*one)));
        others
    }
}

/// The criteria for the best branch.
struct Ranked {
    branch: BranchId,
    solved: bool,
    /// 0 unless the search is depth first.
    depth: usize,
    score: f64,
}

impl Ranked {
    fn best_first(&self, other: &Self) -> Ordering {
        let by_solved = Reverse(self.solved).cmp(&Reverse(other.solved));
        let by_depth = Reverse(self.depth).cmp(&Reverse(other.depth));
        let by_score = other.score.total_cmp(&self.score);

        by_solved.then(by_depth).then(by_score)
    }
}

/// Returns the approach and the steps of a path, the oldest first.
fn steps<'a>(path: impl Iterator<Item = &'a Thought>) -> Vec<&'a str> {
    let is_step = |thought: &&Thought| {
        let is_in_stage = TreeStage::BranchCreation.is_stage_of(thought)
            || TreeStage::BranchDevelopment.is_stage_of(thought);

        // A thought that stays in its stage is a remark.
        is_in_stage && thought.kind() != ThoughtKind::Stay
    };

    let mut steps: Vec<&str> = path.filter(is_step).map(Thought::text).collect();
    steps.reverse();
    steps
}

/// Returns the name of the approach that a thought belongs to.
fn approach_of(thought: &Thought) -> Option<&str> {
    thought.parameter(APPROACH)?.as_str()
}

/// Returns the branches with a mark.
fn marked(solving: &Solving, mark: &str) -> Vec<u32> {
    let note = solving.note(mark).cloned();
    note.and_then(|note| serde_json::from_value(note).ok())
        .unwrap_or_default()
}

/// Adds a mark to a branch.
pub(super) fn mark(solving: &mut Solving, mark: &str, branch: BranchId) {
    let mut branches = marked(solving, mark);
    branches.push(branch.get());
    solving.set_note(mark, branches);
}
