//! What a call changes in a session, as it is asked for and as it is recorded.

use std::fmt;

use cogwork_strategies::{
    Branch, BranchId, Session, SessionError, Strategies, Strategy, Thought, ThoughtDraft, ThoughtId,
};
use cogwork_text::{Name, NameList};
use cogwork_tools::schemars::{self, JsonSchema};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::report::Report;
use crate::tool::{ToolFailure, fields_of};

/// A thought.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Draft {
    /// The text of the thought.
    pub(crate) thought: String,
    /// The stage of the thought: one of the next stages that the last answer has listed. Without
    /// it, the thought stays in the stage of its branch.
    stage: Option<String>,
    /// The parameters of the stage by name, as the last answer has listed them.
    #[schemars(with = "Option<Map<String, Value>>")]
    #[serde(default)]
    parameters: Map<String, Value>,
    /// The number of the earlier thought that this one replaces.
    #[schemars(range(min = 1))]
    revises: Option<u32>,
    /// How many thoughts the branch is expected to have.
    #[schemars(range(min = 1))]
    total_thoughts: Option<u32>,
    /// Whether more thoughts are needed than were expected.
    needs_more_thoughts: Option<bool>,
    /// False ends the branch before a final stage, if the session allows that. A final stage always
    /// ends its branch.
    next_thought_needed: Option<bool>,
}

impl Draft {
    pub(crate) fn to_thought(&self) -> ThoughtDraft {
        let mut draft = ThoughtDraft::here(&self.thought);
        draft.stage = self.stage.clone();
        draft.parameters = self.parameters.clone().into_iter().collect();
        draft.revises = self.revises.map(ThoughtId::new);
        draft.total_thoughts = self.total_thoughts;
        draft.needs_more_thoughts = self.needs_more_thoughts.unwrap_or(false);
        draft.next_thought_needed = self.next_thought_needed.unwrap_or(true);
        draft
    }

    /// Returns the text and the parameters.
    fn words(&self) -> String {
        let parameters = self.parameters.iter();
        let parameters = parameters.map(|(name, value)| format!("\n{name}: {value}"));
        let parameters: String = parameters.collect();
        format!("{}{parameters}", self.thought)
    }
}

/// A thought on a branch.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Placed {
    #[serde(flatten)]
    pub(crate) draft: Draft,
    /// Begins a session that follows this strategy. Later thoughts need not repeat it.
    pub(crate) strategy: Option<String>,
    /// The branch of the thought. By default, the current one.
    pub(crate) branch: Option<String>,
    /// The number of the thought from which a new branch begins with this thought. `branch` is its
    /// name. It becomes the current branch.
    #[schemars(range(min = 1))]
    branch_from: Option<u32>,
}

/// A change of a session. The session is rebuilt by making all changes in order.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", rename_all_fields = "camelCase")]
pub(crate) enum Change {
    #[schemars(skip)]
    Think(Placed),
    /// Forks a branch and makes it the current one.
    Fork {
        /// The thought to fork from. By default, the last one of the current branch.
        #[schemars(range(min = 1))]
        from: Option<u32>,
        branch: Option<String>,
    },
    Switch {
        branch: String,
    },
    Score {
        branch: Option<String>,
        /// The score of a branch.
        #[schemars(range(min = 0.0, max = 10.0))]
        score: f64,
    },
    SelectBest {},
    Merge {
        /// The names of the branches to merge.
        branches: Vec<String>,
        /// The branch to merge into. By default, the current one.
        into: Option<String>,
        #[serde(flatten)]
        draft: Draft,
    },
    Prune {
        branch: String,
    },
    #[serde(rename = "change_strategy")]
    Follow(Entered),
    BeginPart(Entered),
    Undo {
        /// The thought that `undo` is to remove. Refused if it is not the last one.
        #[schemars(range(min = 1))]
        last: Option<u32>,
    },
}

/// Another strategy for a branch.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Entered {
    pub(crate) strategy: String,
    branch: Option<String>,
    #[serde(flatten)]
    draft: Draft,
}

/// What a change has done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Done {
    /// The branch that the report is about.
    pub(crate) branch: BranchId,
    pub(crate) what: What,
}

/// What has happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum What {
    /// Nothing has changed.
    Nothing,
    Begun,
    Thought(ThoughtId),
    Forked(ThoughtId),
    Switched,
    Scored,
    Pruned(BranchId),
    Undone(ThoughtId),
}

/// Why a change is impossible.
#[derive(Debug)]
pub(crate) enum Impossible {
    Refused(SessionError),
    /// The entry has no table of a strategy.
    NoRules,
    AlreadyBegun,
    NotBegun,
    /// The session has had this many changes, and may have no more.
    Full(usize),
    /// What is wrong for another reason, and the kind of the error.
    Other(&'static str, String),
}

impl Change {
    /// Makes the change. If it is impossible, the session stays as it is.
    pub(crate) fn make(
        &self,
        session: &mut Session,
        rules: Option<&Strategies>,
    ) -> Result<Done, Impossible> {
        let thought = match self {
            Self::Think(placed) => return placed.think(session),
            Self::Fork { from, branch } => {
                let tip = || session.branch(session.current()).ok()?.tip();
                let from = from
                    .map(ThoughtId::new)
                    .or_else(tip)
                    .ok_or_else(no_thoughts)?;
                let name = branch.clone().unwrap_or_else(|| new_name(session));
                let branch = session.fork(from, name)?;
                session.switch(branch)?;
                return Ok(done(branch, What::Forked(from)));
            }
            Self::Switch { branch } => {
                let branch = found(session, Some(branch))?;
                session.switch(branch)?;
                return Ok(done(branch, What::Switched));
            }
            Self::Score { branch, score } => {
                let branch = found(session, branch.as_deref())?;
                session.score(branch, *score)?;
                return Ok(done(branch, What::Scored));
            }
            Self::SelectBest {} => {
                let branch = session.select_best()?;
                return Ok(done(branch, What::Switched));
            }
            Self::Prune { branch } => {
                let branch = found(session, Some(branch))?;
                session.prune(branch)?;
                return Ok(done(session.current(), What::Pruned(branch)));
            }
            Self::Undo { last } => {
                check_last(session, last.map(ThoughtId::new))?;
                let thought = session.undo()?;
                return Ok(done(thought.branch(), What::Undone(thought.id())));
            }
            Self::Merge {
                branches,
                into,
                draft,
            } => {
                let sources = branches.iter().map(|name| found(session, Some(name)));
                let sources: Vec<_> = sources.collect::<Result<_, _>>()?;
                let into = found(session, into.as_deref())?;
                session.merge(&sources, into, draft.to_thought())?
            }
            Self::Follow(entered) => {
                let branch = found(session, entered.branch.as_deref())?;
                session.change_strategy(branch, only(rules)?, entered.draft.to_thought())?
            }
            Self::BeginPart(entered) => {
                let branch = found(session, entered.branch.as_deref())?;
                session.begin_part(branch, only(rules)?, entered.draft.to_thought())?
            }
        };
        Ok(thought_on(session, thought))
    }

    /// Returns the name of the strategy whose rules the change needs.
    pub(crate) fn strategy_mut(&mut self) -> Option<&mut String> {
        match self {
            Self::Follow(entered) | Self::BeginPart(entered) => Some(&mut entered.strategy),
            _ => None,
        }
    }

    /// Returns the branch that the change is for, or the current one.
    pub(crate) fn branch(&self, session: &Session) -> BranchId {
        let name = match self {
            Self::Switch { branch } | Self::Prune { branch } => Some(branch),
            Self::Score { branch, .. } | Self::Merge { into: branch, .. } => branch.as_ref(),
            Self::Follow(entered) | Self::BeginPart(entered) => entered.branch.as_ref(),
            Self::Think(placed) => placed.branch.as_ref(),
            _ => None,
        };
        let named = name.and_then(|name| session.branch_named(name));
        named.map_or_else(|| session.current(), Branch::id)
    }

    /// Returns the text that searches find.
    pub(crate) fn words(&self) -> String {
        match self {
            Self::Fork { branch, .. } => branch.clone().unwrap_or_default(),
            Self::Think(placed) => match &placed.branch {
                Some(branch) => format!("{branch}\n{}", placed.draft.words()),
                None => placed.draft.words(),
            },
            Self::Merge { draft, .. } => draft.words(),
            Self::Follow(entered) | Self::BeginPart(entered) => entered.draft.words(),
            _ => String::new(),
        }
    }
}

impl Placed {
    fn think(&self, session: &mut Session) -> Result<Done, Impossible> {
        let name = self.branch.as_deref();
        let from = self.branch_from.map(ThoughtId::new);
        // Later thoughts of a branch may repeat where it begins.
        let known = name.and_then(|name| session.branch_named(name));
        let known = known
            .filter(|branch| branch.forked_from() == from)
            .map(Branch::id);

        if let (Some(from), None) = (from, known) {
            self.check_strategy(session, session.current())?;
            let name = name.map_or_else(|| new_name(session), str::to_owned);
            let thought = session.think_from(from, name, self.draft.to_thought())?;
            let done = thought_on(session, thought);
            // A new branch is open or complete, so this is possible.
            let _ = session.switch(done.branch);
            return Ok(done);
        }

        let branch = known.map_or_else(|| found(session, name), Ok)?;
        self.check_strategy(session, branch)?;
        let thought = session.think_on(branch, self.draft.to_thought())?;
        Ok(thought_on(session, thought))
    }

    /// Refuses a thought that names another strategy than that of its branch.
    fn check_strategy(&self, session: &Session, branch: BranchId) -> Result<(), Impossible> {
        let Some(named) = &self.strategy else {
            return Ok(());
        };

        let tip = session.branch(branch).ok().and_then(Branch::tip);
        let tip = tip.and_then(|tip| session.thought(tip));
        let strategy = tip.map_or_else(|| session.strategy().name(), Thought::strategy);
        if [strategy, outermost(session, branch)].contains(&named.as_str()) {
            return Ok(());
        }

        let strategy = Name(strategy);
        let named = Name(named);
        let message = format!(
            "the session follows `{strategy}`, not `{named}`; leave out `strategy`, or call \
             `think_session` with the operation `change_strategy` or `new`"
        );
        Err(Impossible::Other("other_strategy", message))
    }
}

/// Returns the strategy of the last thought on a branch, or the one around it.
pub(crate) fn outermost(session: &Session, branch: BranchId) -> &str {
    let tip = session.branch(branch).ok().and_then(Branch::tip);
    let tip = tip.and_then(|tip| session.thought(tip));
    tip.map_or_else(
        || session.strategy().name(),
        |tip| {
            let outer = tip.outer().last().map(|(strategy, _)| strategy);
            outer.unwrap_or_else(|| tip.strategy())
        },
    )
}

/// Returns the branch with this name, or the current one.
pub(crate) fn found(session: &Session, name: Option<&str>) -> Result<BranchId, Impossible> {
    let Some(name) = name else {
        return Ok(session.current());
    };
    let found = session.branch_named(name).map(Branch::id);
    found.ok_or_else(|| {
        let expected = NameList::or(session.branches().iter().map(Branch::name));
        let message = format!("there is no branch `{}`; expected {expected}", Name(name));
        Impossible::Other("no_such_branch", message)
    })
}

/// Returns the name for a new branch without one.
fn new_name(session: &Session) -> String {
    let mut names = (session.branches().len()..).map(|number| format!("branch-{number}"));
    let is_new = |name: &String| session.branch_named(name).is_none();
    names.find(is_new).unwrap_or_default()
}

/// Returns the strategy of a table with one.
pub(crate) fn only(rules: Option<&Strategies>) -> Result<Strategy, Impossible> {
    let strategy = rules.and_then(|rules| rules.iter().next());
    strategy.cloned().ok_or(Impossible::NoRules)
}

fn check_last(session: &Session, expected: Option<ThoughtId>) -> Result<(), Impossible> {
    let last = session.thoughts().last().map(Thought::id);
    match (expected, last) {
        (Some(expected), Some(last)) if expected != last => {
            let message = format!("the last thought is {last}, not {expected}");
            Err(Impossible::Other("not_last", message))
        }
        _ => Ok(()),
    }
}

fn no_thoughts() -> Impossible {
    let message = "the branch has no thought to fork from; think first";
    Impossible::Other("no_thoughts", message.to_owned())
}

fn thought_on(session: &Session, thought: ThoughtId) -> Done {
    let branch = session.thought(thought).map(Thought::branch);
    let branch = branch.unwrap_or_else(|| session.current());
    done(branch, What::Thought(thought))
}

pub(crate) fn done(branch: BranchId, what: What) -> Done {
    Done { branch, what }
}

impl Impossible {
    /// Returns the failure, with the place where the session still is.
    pub(crate) fn into_failure(self, report: Option<&Report>) -> ToolFailure {
        let message = self.to_string();
        let mut error = match &self {
            Self::Refused(error) => fields_of(error),
            _ => Map::from_iter([("kind".to_owned(), self.kind().into())]),
        };
        error.insert("message".to_owned(), message.clone().into());

        let mut data = report.map(fields_of).unwrap_or_default();
        data.insert("error".to_owned(), Value::Object(error));
        ToolFailure::Described {
            message: match report {
                Some(report) => format!("{message}. Nothing has changed.\n{report}"),
                None => message,
            },
            data: Value::Object(data),
        }
    }

    fn kind(&self) -> &'static str {
        match self {
            Self::Refused(_) => "refused",
            Self::NoRules => "strategy",
            Self::AlreadyBegun => "session_exists",
            Self::NotBegun => "no_beginning",
            Self::Full(_) => "full",
            Self::Other(kind, _) => kind,
        }
    }
}

impl From<SessionError> for Impossible {
    fn from(error: SessionError) -> Self {
        Self::Refused(error)
    }
}

impl From<Impossible> for ToolFailure {
    fn from(impossible: Impossible) -> Self {
        impossible.into_failure(None)
    }
}

impl fmt::Display for Impossible {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(error) => error.fmt(f),
            Self::NoRules => f.write_str("the rules of the strategy are missing"),
            Self::AlreadyBegun => f.write_str("the session already exists; choose another id"),
            Self::Full(changes) => write!(
                f,
                "the session was changed {changes} times, which is the limit; begin another one"
            ),
            Self::NotBegun => f.write_str("the session has no beginning; begin another one"),
            Self::Other(_, message) => f.write_str(message),
        }
    }
}
