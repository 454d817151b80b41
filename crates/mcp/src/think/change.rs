//! What a call changes in a session, as it is asked for and as it is recorded.

use cogwork_strategies::session::{Branch, BranchId, Session, ThoughtDraft, ThoughtId};
use cogwork_text::{Name, NameList};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::failure::Failure;

/// A change of a session. The session is rebuilt by making all changes in order.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Change {
    Think(Thinking),
    /// Makes a branch the current one: the one with the best score if it is `None`.
    Switch(Option<String>),
    Score {
        branch: Option<String>,
        score: f64,
    },
    Merge {
        branches: Vec<String>,
        into: Option<String>,
        draft: ThoughtDraft,
    },
    Prune(String),
    Undo,
}

/// A thought on a branch.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Thinking {
    pub(super) draft: ThoughtDraft,
    /// By default, the current one.
    pub(super) branch: Option<String>,
    /// The thought from which the branch begins with this one.
    pub(super) from: Option<ThoughtId>,
}

/// What a change has done, and the branch that it was done on.
#[derive(Debug)]
pub(super) struct Done {
    pub(super) branch: BranchId,
    pub(super) what: String,
}

impl Change {
    /// Makes the change. If it is impossible, the session may be half changed.
    pub(super) fn make(&self, session: &mut Session) -> Result<Done, Failure> {
        match self {
            Self::Think(thinking) => thinking.think(session),
            Self::Switch(None) => {
                let branch = session.select_best()?;
                Ok(Done::new(branch, "This branch has the best score. "))
            }
            Self::Switch(Some(name)) => {
                let branch = found(session, Some(name))?;
                session.switch(branch)?;
                Ok(Done::new(branch, "This is the current branch now. "))
            }
            Self::Score { branch, score } => {
                let branch = found(session, branch.as_deref())?;
                session.score(branch, *score)?;
                Ok(Done::new(branch, "The branch has a new score. "))
            }
            Self::Merge {
                branches,
                into,
                draft,
            } => {
                let sources = branches.iter().map(|name| found(session, Some(name)));
                let sources: Vec<_> = sources.collect::<Result<_, _>>()?;
                let into = found(session, into.as_deref())?;
                let draft = with_known_ids(session, into, draft.clone(), None);
                let thought = session.merge(&sources, into, draft)?;
                Ok(Done::recorded(into, thought))
            }
            Self::Prune(name) => {
                let branch = found(session, Some(name))?;
                session.prune(branch)?;
                Ok(Done::new(session.current(), "The branch is pruned. "))
            }
            Self::Undo => {
                let undone = session.undo()?;
                let what = format!("Thought {} is removed. ", undone.id);
                // The branch goes with the thought that it began with.
                let branch = session.branch(undone.branch).map(|branch| branch.id);
                Ok(Done::new(branch.unwrap_or(session.current()), what))
            }
        }
    }

    /// Returns the branch that the change is for, or the current one.
    pub(super) fn branch(&self, session: &Session) -> BranchId {
        let name = match self {
            Self::Switch(branch)
            | Self::Score { branch, .. }
            | Self::Merge { into: branch, .. } => branch.as_deref(),
            Self::Think(thinking) => thinking.branch.as_deref(),
            Self::Prune(_) | Self::Undo => None,
        };
        let named = name.and_then(|name| session.branch_named(name));
        named.map_or_else(|| session.current(), |branch| branch.id)
    }
}

impl Done {
    fn new(branch: BranchId, what: impl Into<String>) -> Self {
        let what = what.into();
        Self { branch, what }
    }

    fn recorded(branch: BranchId, thought: ThoughtId) -> Self {
        Self::new(branch, format!("Thought {thought} is recorded. "))
    }
}

impl Thinking {
    fn think(&self, session: &mut Session) -> Result<Done, Failure> {
        let branch = self.branch(session)?;
        let mut draft = self.draft.clone();

        let passed = match &draft.stage {
            Some(stage) => pass(session, branch, stage)?,
            None => Vec::new(),
        };
        draft = with_known_ids(session, branch, draft, self.from);
        let thought = session.think_on(branch, draft)?;

        let mut done = Done::recorded(branch, thought);
        if !passed.is_empty() {
            done.what += &format!(
                "Before it, nothing was to say in {}. ",
                NameList::and(&passed)
            );
        }
        Ok(done)
    }

    /// Returns the branch of the thought, which may begin with it.
    fn branch(&self, session: &mut Session) -> Result<BranchId, Failure> {
        let name = self.branch.as_deref();
        let Some(from) = self.from else {
            return found(session, name);
        };

        // Later thoughts of a branch may repeat where it begins.
        let known = name.and_then(|name| session.branch_named(name));
        if let Some(known) = known.filter(|branch| branch.from == Some(from)) {
            return Ok(known.id);
        }
        let name = name.map_or_else(|| new_name(session), str::to_owned);
        let branch = session.fork(from, name)?;
        session.switch(branch)?;
        Ok(branch)
    }
}

/// Adds thoughts without a text for the stages on the way to this one, if they need nothing and
/// there is only one way. Returns their names.
fn pass(session: &mut Session, branch: BranchId, stage: &str) -> Result<Vec<String>, Failure> {
    // Only a whole way to the stage is kept.
    let mut trial = session.clone();
    let mut passed = Vec::new();

    loop {
        let current = trial.stage_on(branch)?.name == stage;
        let following = following(&trial, branch);
        if current || following.iter().any(|next| next.name == stage) {
            *session = trial;
            return Ok(passed);
        }

        // The session says what is wrong with the stage.
        let [only] = following[..] else {
            return Ok(Vec::new());
        };
        let mut parameters = only.parameters.values();
        let needs_something = parameters.any(|parameter| !parameter.is_optional);
        let name = only.name.clone();
        if needs_something || only.is_final || passed.contains(&name) {
            return Ok(Vec::new());
        }
        trial.think_on(branch, ThoughtDraft::at(&name, ""))?;
        passed.push(name);
    }
}

/// Returns the stages that the next thought may name. The first thought may name the start stage as
/// well.
pub(super) fn following(session: &Session, branch: BranchId) -> Vec<&cogwork_strategies::Stage> {
    let mut stages = session.allowed(branch).unwrap_or_default();
    let start = session.strategy().start();
    let tip = session.branch(branch).ok().and_then(Branch::tip);
    let is_empty = tip.is_none();
    if is_empty && !stages.iter().any(|stage| stage.name == start.name) {
        // Begins the list, as it begins the table.
        stages.insert(0, start);
    }
    stages
}

/// Adds the ids that a stage needs and that the branch has already: those of earlier thoughts, and
/// its name.
fn with_known_ids(
    session: &Session,
    branch: BranchId,
    mut draft: ThoughtDraft,
    from: Option<ThoughtId>,
) -> ThoughtDraft {
    let allowed = session.allowed(branch).unwrap_or_default();
    let stage = allowed
        .into_iter()
        .find(|stage| Some(&stage.name) == draft.stage.as_ref());
    let Some(stage) = stage else {
        return draft;
    };

    let parameters = stage.parameters.iter();
    let needed = parameters.filter(|(_, parameter)| !parameter.is_optional);
    for (name, _) in needed {
        let known = match name.as_str() {
            "branch_from_thought" => from.map(|from| from.0.into()),
            name if name.ends_with("_id") => known_id(session, branch, name),
            _ => None,
        };
        if let Some(known) = known {
            // What the model wrote itself counts.
            draft.parameters.entry(name.clone()).or_insert(known);
        }
    }
    draft
}

fn known_id(session: &Session, branch: BranchId, name: &str) -> Option<Value> {
    let own = session.branch(branch).ok()?;
    let mut path = session.path(own.tip());
    let earlier = path.find_map(|thought| thought.parameters.get(name).cloned());
    earlier.or_else(|| (branch != BranchId::MAIN).then(|| own.name.as_str().into()))
}

/// Returns the branch with this name, or the current one.
fn found(session: &Session, name: Option<&str>) -> Result<BranchId, Failure> {
    let Some(name) = name else {
        return Ok(session.current());
    };
    let found = session.branch_named(name).map(|branch| branch.id);
    found.ok_or_else(|| {
        let expected = NameList::or(session.branches().iter().map(|branch| &branch.name));
        let name = Name(name);
        Failure::new(format_args!(
            "there is no branch `{name}`; expected {expected}"
        ))
    })
}

/// Returns the name for a new branch without one.
fn new_name(session: &Session) -> String {
    let mut names = (session.branches().len()..).map(|number| format!("branch-{number}"));
    let is_new = |name: &String| session.branch_named(name).is_none();
    names.find(is_new).unwrap_or_default()
}

/// Returns a thought that is to be added.
pub(super) fn draft(
    thought: String,
    stage: Option<String>,
    parameters: Option<Map<String, Value>>,
) -> ThoughtDraft {
    let mut draft = ThoughtDraft::here(thought);
    draft.stage = stage;
    draft.parameters = parameters.unwrap_or_default().into_iter().collect();
    draft
}
