//! The tree as the session holds it. It is read anew in every turn, so that a run that is taken up again
//! finds it as it was and nothing is kept twice.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::settings::{Search, TreeOfThoughts};
use crate::{Branch, BranchId, BranchStatus, Session, Solving, Thought};

/// The branches that hold the whole solution.
pub(super) const SOLVED: &str = "solved";

/// The branches that came to a place where no step is left.
pub(super) const ENDED: &str = "ended";

/// Characters of a step; the rest is cut, since every question about the branch repeats it.
const LONGEST: usize = 4_000;

/// Characters of the name of a branch that come from its approach.
const LONGEST_NAME: usize = 40;

/// An approach as the model names it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Approach {
    pub(super) id: String,
    pub(super) description: String,
    pub(super) promise: f64,
}

pub(super) struct Tree<'a> {
    settings: &'a TreeOfThoughts,
    solving: &'a Solving,
}

/// How the search goes on.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Way {
    /// With these branches.
    Develop { first: BranchId, names: Vec<String> },
    /// With approaches that were not tried.
    Open { ids: Vec<String> },
    /// With the solution of this branch.
    Formulate { branch: BranchId, name: String, solved: bool },
    /// No branch and no approach is left.
    Exhausted { threshold: f64 },
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Develop { names, .. } => write!(f, "Go on with {}.", names.join(", ")),
            Self::Open { ids } => write!(f, "Try {}.", ids.join(", ")),
            Self::Formulate { name, solved: true, .. } => write!(f, "`{name}` holds the solution."),
            Self::Formulate { name, .. } => write!(f, "`{name}` has come to its end and is the best."),
            Self::Exhausted { threshold } => {
                write!(
                    f,
                    "every approach was tried, and no branch with a score of {threshold} or more is left"
                )
            }
        }
    }
}

impl<'a> Tree<'a> {
    pub(super) fn new(settings: &'a TreeOfThoughts, solving: &'a Solving) -> Self {
        Self { settings, solving }
    }

    fn session(&self) -> &'a Session {
        self.solving.session()
    }

    /// The open branches whose last thought is in one of the stages, the oldest first.
    fn at(&self, stages: &[&str]) -> Vec<BranchId> {
        let stands = |branch: &&Branch| {
            let stage = self.session().stage_on(branch.id());
            branch.status() == BranchStatus::Open && stage.is_ok_and(|stage| stages.contains(&stage.name()))
        };
        self.session().branches().iter().filter(stands).map(Branch::id).collect()
    }

    /// From the last thought of a branch back to the first.
    fn path(&self, branch: BranchId) -> impl Iterator<Item = &'a Thought> {
        let tip = self.session().branch(branch).ok().and_then(Branch::tip);
        self.session().path(tip)
    }

    /// The approach and the steps after it, the oldest first.
    pub(super) fn steps(&self, branch: BranchId) -> Vec<&'a str> {
        steps(self.path(branch))
    }

    fn depth(&self, branch: BranchId) -> usize {
        self.path(branch).filter(|thought| thought.stage().name() == "branch_development").count()
    }

    /// The name of a branch's approach.
    pub(super) fn approach(&self, branch: BranchId) -> &'a str {
        let created = self.path(branch).find(|thought| thought.stage().name() == "branch_creation");
        created.and_then(|thought| thought.parameter("approach_id")?.as_str()).unwrap_or_default()
    }

    pub(super) fn name(&self, branch: BranchId) -> &'a str {
        self.session().branch(branch).map_or("", Branch::name)
    }

    pub(super) fn score(&self, branch: BranchId) -> f64 {
        self.session().branch(branch).ok().and_then(Branch::score).unwrap_or_default()
    }

    fn is_marked(&self, mark: &str, branch: BranchId) -> bool {
        marked(self.solving, mark).contains(&branch.get())
    }

    /// Whether no step will be taken from it.
    fn is_leaf(&self, branch: BranchId) -> bool {
        self.is_marked(SOLVED, branch)
            || self.is_marked(ENDED, branch)
            || self.depth(branch) >= self.settings.depth
    }

    /// The thought that names the approaches.
    pub(super) fn explored(&self) -> Option<&'a Thought> {
        self.session().thoughts().iter().find(|thought| thought.stage().name() == "approach_exploration")
    }

    /// The approaches without a branch, the most promising first.
    fn untried(&self) -> Vec<Approach> {
        let mut approaches = approaches(self.explored().and_then(|thought| thought.parameter("approaches")));
        for thought in
            self.session().thoughts().iter().filter(|thought| thought.stage().name() == "branch_creation")
        {
            let tried = thought.parameter("approach_id").and_then(Value::as_str);
            approaches.retain(|approach| Some(approach.id.as_str()) != tried);
        }
        approaches
    }

    /// The approaches that are opened next.
    pub(super) fn to_open(&self) -> Vec<Approach> {
        let mut approaches = self.untried();
        approaches.truncate(self.beam());
        approaches
    }

    /// How many branches are worked on at once.
    fn beam(&self) -> usize {
        match self.settings.search {
            Search::BreadthFirst { beam_width } => beam_width,
            Search::DepthFirst | Search::BestFirst => 1,
        }
    }

    /// The branches that take the next step: those just opened, else those chosen.
    pub(super) fn to_develop(&self) -> Vec<BranchId> {
        let opened = self.at(&["branch_creation"]);
        if !opened.is_empty() {
            return opened;
        }
        let ready = self.at(&["continuation_decision"]);
        let mut chosen = self.chosen();
        chosen.retain(|branch| ready.contains(branch) && !self.is_leaf(*branch));
        chosen
    }

    /// The branches with a step that was not judged.
    pub(super) fn to_evaluate(&self) -> Vec<BranchId> {
        self.at(&["branch_development"])
    }

    /// The branches that were judged and not selected since, the best first.
    pub(super) fn judged(&self) -> Vec<BranchId> {
        self.ordered(self.at(&["branch_evaluation"]))
    }

    /// The branches of which the selection spoke.
    pub(super) fn selected(&self) -> Vec<BranchId> {
        self.at(&["branch_selection"])
    }

    /// All that may be followed, in the order in which they are.
    fn frontier(&self) -> Vec<BranchId> {
        let mut frontier =
            self.ordered(self.at(&["branch_evaluation", "branch_selection", "continuation_decision"]));
        frontier.retain(|branch| self.score(*branch) >= self.settings.threshold);
        frontier
    }

    fn ordered(&self, branches: Vec<BranchId>) -> Vec<BranchId> {
        let deep = self.settings.search == Search::DepthFirst;
        let key = |branch: BranchId| {
            let depth = if deep { self.depth(branch) } else { 0 };
            (branch, self.is_marked(SOLVED, branch), depth, self.score(branch))
        };
        let mut keyed: Vec<_> = branches.into_iter().map(key).collect();
        // Stable: of equals the older.
        keyed.sort_by(|one, other| (other.1, other.2).cmp(&(one.1, one.2)).then(other.3.total_cmp(&one.3)));
        keyed.into_iter().map(|(branch, ..)| branch).collect()
    }

    /// The branches to go on with, the best first.
    pub(super) fn chosen(&self) -> Vec<BranchId> {
        let mut chosen = self.frontier();
        chosen.truncate(self.beam());
        chosen
    }

    /// The branches that may still be followed: with a beam those in it, else all that are good enough.
    pub(super) fn kept(&self) -> Vec<BranchId> {
        match self.settings.search {
            Search::BreadthFirst { .. } => self.chosen(),
            Search::DepthFirst | Search::BestFirst => self.frontier(),
        }
    }

    /// The branches that only carry what the selection said of others.
    pub(super) fn hopeless(&self) -> Vec<BranchId> {
        let kept = self.kept();
        let mut branches = self.at(&["branch_selection", "continuation_decision"]);
        branches.retain(|branch| !kept.contains(branch));
        branches
    }

    /// How the search goes on, once branches are judged.
    pub(super) fn way(&self) -> Way {
        let chosen = self.chosen();
        let untried = self.to_open();
        let open = || Way::Open { ids: untried.iter().map(|approach| approach.id.clone()).collect() };
        let Some(best) = chosen.first().copied() else {
            return match untried.is_empty() {
                true => Way::Exhausted { threshold: self.settings.threshold },
                false => open(),
            };
        };
        let solved = self.is_marked(SOLVED, best);
        let further: Vec<BranchId> = chosen.iter().copied().filter(|branch| !self.is_leaf(*branch)).collect();
        let (Some(first), false) = (further.first(), solved) else {
            return Way::Formulate { branch: best, name: self.name(best).to_owned(), solved };
        };
        let promises = untried.first().map_or(0.0, |approach| approach.promise);
        if self.settings.search == Search::BestFirst && promises > self.score(*first) {
            return open();
        }
        Way::Develop {
            first: *first,
            names: further.iter().map(|branch| self.name(*branch).to_owned()).collect(),
        }
    }

    /// What the branch with the highest score holds, as far as it was judged.
    pub(super) fn best_steps(&self) -> Option<String> {
        let best = self.session().best(1).first().map(|branch| branch.id())?;
        if self.score(best) < self.settings.threshold {
            return None;
        }
        let judged = self.path(best).skip_while(|thought| thought.stage().name() == "branch_development");
        Some(steps(judged).join("\n")).filter(|steps| !steps.is_empty())
    }

    /// Why the branch that is followed is the best, in numbers.
    pub(super) fn justification(&self) -> String {
        let current = self.session().current();
        let scored = |branch: &&Branch| branch.score().is_some() && branch.id() != current;
        let mut others: Vec<_> = self.session().branches().iter().filter(scored).map(Branch::id).collect();
        others.sort_by(|one, other| self.score(*other).total_cmp(&self.score(*one)));
        let mut text = format!("`{}` has a score of {}", self.name(current), self.score(current));
        if self.is_marked(SOLVED, current) {
            text.push_str(" and is solved");
        }
        let named = |branch: &BranchId| format!("`{}` {}", self.name(*branch), self.score(*branch));
        match others.iter().take(5).map(named).collect::<Vec<_>>() {
            best if best.is_empty() => text.push_str("; it is the only branch."),
            best => text.push_str(&format!("; best of the others: {}.", best.join(", "))),
        }
        text
    }
}

/// From the newest thought to the oldest: the approach and the steps, the oldest first.
fn steps<'a>(path: impl Iterator<Item = &'a Thought>) -> Vec<&'a str> {
    let is_step = |thought: &&Thought| {
        // A thought that stays in its stage is a remark, no step.
        thought.kind() != crate::ThoughtKind::Stay
            && matches!(thought.stage().name(), "branch_creation" | "branch_development")
    };
    let mut steps: Vec<&str> = path.filter(is_step).map(Thought::text).collect();
    steps.reverse();
    steps
}

/// The approaches of a parameter that was checked, in their order. Texts are cut to what a step may have.
pub(super) fn approaches(parameter: Option<&Value>) -> Vec<Approach> {
    let read = |value: &Value| serde_json::from_value::<Approach>(value.clone()).ok();
    let items = parameter.and_then(Value::as_array).into_iter().flatten().filter_map(read);
    let cut = |approach: Approach| Approach {
        id: cut(approach.id.trim()),
        description: cut(approach.description.trim()),
        ..approach
    };
    items.map(cut).filter(|approach| !approach.id.is_empty() && !approach.description.is_empty()).collect()
}

/// A text of a length that can be repeated in every question.
pub(super) fn cut(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{} […]", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// The name of a branch of an approach, or with a number behind it where that is taken.
pub(super) fn free_name(session: &Session, approach: &str) -> String {
    let letters = approach.chars().filter(|letter| !letter.is_control()).take(LONGEST_NAME);
    let base = match letters.collect::<String>().trim() {
        "" => "approach".to_owned(),
        name => name.to_owned(),
    };
    let numbered = (2..).map(|number: u32| format!("{base}-{number}"));
    let mut names = std::iter::once(base.clone()).chain(numbered);
    names.find(|name| session.branch_named(name).is_none()).unwrap_or(base)
}

fn marked(solving: &Solving, mark: &str) -> Vec<u32> {
    let note = solving.note(mark).cloned();
    note.and_then(|note| serde_json::from_value(note).ok()).unwrap_or_default()
}

/// Remembers of a branch what its thoughts do not say.
pub(super) fn mark(solving: &mut Solving, mark: &str, branch: BranchId) {
    let mut branches = marked(solving, mark);
    branches.push(branch.get());
    solving.set_note(mark, branches);
}
