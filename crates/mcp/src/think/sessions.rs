//! The sessions of `think`, and calls that read and change them.

use cogwork_strategies::{Session, SessionPolicy, Strategies, Strategy, ThoughtDraft};
use cogwork_text::{NameList, OneLine};
use serde::{Deserialize, Serialize};

use super::change::{Change, Done, Impossible, What, done, only, outermost};
use super::report::Report;
use crate::ServerLimits;
use crate::arguments;
use crate::connection::Connection;
use crate::store::{
    Changed, HeaderChange, NewSession, Recorded, SessionId, SessionKind, SessionStore,
};
use crate::tool::ToolFailure;

/// The maximum number of characters of a title that is taken from the first thought.
const TITLE: usize = 200;

/// The maximum number of changes of a session, as a multiple of that of its thoughts. A session is
/// read by repeating them, and scores and undone thoughts are changes as well.
const CHANGES: usize = 10;

/// An entry of a session. The table of a strategy is part of it, because a session keeps its rules,
/// even if the server doesn't have the strategy any more.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Entry {
    /// The first one.
    Begin {
        purpose: String,
        rules: Strategies,
        policy: SessionPolicy,
        first: Option<ThoughtDraft>,
    },
    Change(Change, Option<Strategies>),
}

/// A session, or nothing before its first entry.
pub(crate) struct ThinkState {
    pub(super) begun: Option<Begun>,
    /// The number of entries so far.
    entries: usize,
}

/// A session that has begun.
pub(crate) struct Begun {
    pub(crate) purpose: String,
    pub(crate) session: Session,
}

impl ThinkState {
    /// Adds an entry. If it is impossible, the state doesn't change.
    fn add(&mut self, entry: &Entry) -> Result<Done, Impossible> {
        let done = match (entry, &mut self.begun) {
            (Entry::Change(change, rules), Some(begun)) => {
                change.make(&mut begun.session, rules.as_ref())?
            }
            (Entry::Change(..), None) => return Err(Impossible::NotBegun),
            (Entry::Begin { .. }, Some(_)) => return Err(Impossible::AlreadyBegun),
            (
                Entry::Begin {
                    purpose,
                    rules,
                    policy,
                    first,
                },
                None,
            ) => {
                let mut session = Session::with_policy(only(Some(rules))?, *policy);
                let what = match first.clone() {
                    None => What::Begun,
                    Some(draft) => What::Thought(session.think(draft)?),
                };
                let done = done(session.current(), what);
                let purpose = purpose.clone();
                self.begun = Some(Begun { purpose, session });
                done
            }
        };

        self.entries = self.entries.saturating_add(1);
        Ok(done)
    }
}

impl Recorded for ThinkState {
    const KIND: SessionKind = SessionKind::Think;

    type Entry = Entry;

    fn empty(_: &SessionStore, _: u64) -> Self {
        let begun = None;
        Self { begun, entries: 0 }
    }

    fn replay(&mut self, entry: Entry) -> Result<(), String> {
        let done = self.add(&entry);
        done.map(drop).map_err(|error| error.to_string())
    }
}

/// All sessions of `think`.
pub(crate) struct ThinkSessions(pub(crate) SessionStore);

/// How a session begins.
#[derive(Debug, Clone)]
pub(crate) struct Beginning {
    pub(crate) strategy: Strategy,
    pub(crate) purpose: String,
    pub(crate) allows_early_end: bool,
    pub(crate) first: Option<ThoughtDraft>,
}

impl ThinkSessions {
    pub(crate) fn limits(&self) -> &ServerLimits {
        self.0.limits()
    }

    pub(crate) fn strategies(&self) -> &Strategies {
        self.0.strategies()
    }

    /// Returns the strategy with this name.
    pub(crate) fn strategy(&self, name: &str) -> Result<&Strategy, ToolFailure> {
        let found = self.strategies().get(name);
        found.map_err(|_| arguments::wrong("strategy", self.strategy_names(), &name.into()))
    }

    /// Lists the names of all strategies.
    pub(crate) fn strategy_names(&self) -> String {
        let names = self.strategies().iter().flat_map(Strategy::names);
        NameList::or(names.collect::<Vec<_>>()).to_string()
    }

    /// Begins a session if there is none with this id, or makes a change if there is. The session
    /// becomes the current one. If the change is refused, the failure has the place where the session
    /// still is.
    pub(crate) async fn record(
        &self,
        connection: &Connection,
        id: Option<SessionId>,
        beginning: Option<Beginning>,
        change: Option<Change>,
    ) -> Result<Report, ToolFailure> {
        let new = beginning.as_ref().map(|beginning| NewSession {
            id: id.clone(),
            kind: SessionKind::Think,
            title: title(beginning),
            strategy: beginning.strategy.name().to_owned(),
        });
        let begin = beginning.map(|beginning| self.begin(beginning));
        let change = change.map(|change| self.with_rules(change)).transpose()?;
        let id = match id {
            None if begin.is_some() => SessionId::random(),
            id => id_or_current(connection, id)?,
        };

        let recorded = self.0.change(
            connection.owner(),
            &id,
            new.as_ref(),
            |state: &mut ThinkState| {
                let entry = if state.begun.is_none() {
                    &begin
                } else {
                    &change
                };
                let missing = match state.begun {
                    None => Impossible::NotBegun,
                    Some(_) => Impossible::AlreadyBegun,
                };
                let entry = entry.as_ref().ok_or(missing)?;
                self.add(state, &id, entry)
            },
        );
        let report = recorded.await?;

        connection.set_current(SessionKind::Think, id);
        Ok(report)
    }

    /// Reads a session.
    pub(crate) async fn read(
        &self,
        connection: &Connection,
        id: &SessionId,
    ) -> Result<Begun, ToolFailure> {
        let state: ThinkState = self.0.read(connection.owner(), id).await?;
        Ok(state.begun.ok_or(Impossible::NotBegun)?)
    }

    fn add(
        &self,
        state: &mut ThinkState,
        id: &SessionId,
        entry: &Entry,
    ) -> Result<Changed<Entry, Report>, ToolFailure> {
        let most = self.limits().thoughts.saturating_mul(CHANGES);
        let added = if state.entries < most {
            state.add(entry)
        } else {
            Err(Impossible::Full(state.entries))
        };
        let done = added.map_err(|impossible| refused(state, id, entry, impossible))?;

        let Begun { purpose, session } = state.begun.as_ref().ok_or(Impossible::NotBegun)?;
        Ok(Changed {
            change: HeaderChange {
                title: title_by(purpose, session),
                strategy: Some(outermost(session, done.branch).to_owned()),
                is_complete: Some(session.is_complete()),
                text: match entry {
                    Entry::Begin { purpose, first, .. } => {
                        let first = first.as_ref().map_or("", |draft| &draft.thought);
                        format!("{purpose}\n{first}")
                    }
                    Entry::Change(change, _) => change.words(),
                },
            },
            entry: entry.clone(),
            result: Report::new(Some(id), session, done),
        })
    }

    fn begin(&self, beginning: Beginning) -> Entry {
        let limits = self.limits();
        let mut policy = SessionPolicy::default();
        policy.allows_early_end = beginning.allows_early_end;
        policy.max_thoughts = limits.thoughts;
        policy.max_branches = limits.branches;

        Entry::Begin {
            purpose: beginning.purpose,
            rules: Strategies::from_iter([beginning.strategy]),
            policy,
            first: beginning.first,
        }
    }

    /// Returns the entry for a change.
    fn with_rules(&self, mut change: Change) -> Result<Entry, ToolFailure> {
        let mut rules = None;
        if let Some(name) = change.strategy_mut() {
            let strategy = self.strategy(name)?;
            rules = Some(Strategies::from_iter([strategy.clone()]));
        }
        Ok(Entry::Change(change, rules))
    }
}

/// Returns the failure of an entry, with the place where the session still is.
fn refused(
    state: &ThinkState,
    id: &SessionId,
    entry: &Entry,
    impossible: Impossible,
) -> ToolFailure {
    let report = match (entry, &state.begun) {
        (Entry::Change(change, _), Some(Begun { session, .. })) => {
            let branch = change.branch(session);
            Some(Report::new(Some(id), session, done(branch, What::Nothing)))
        }
        (Entry::Begin { rules, .. }, None) => only(Some(rules)).ok().map(|strategy| {
            let session = Session::new(strategy);
            let nothing = done(session.current(), What::Nothing);
            Report::new(None, &session, nothing)
        }),
        _ => None,
    };
    impossible.into_failure(report.as_ref())
}

fn title(beginning: &Beginning) -> String {
    let first = beginning.first.as_ref().map(|draft| &*draft.thought);
    match beginning.purpose.trim() {
        "" => excerpt(first.unwrap_or_default()),
        purpose => purpose.to_owned(),
    }
}

/// Returns the title of a session without a purpose, which is its first thought.
fn title_by(purpose: &str, session: &Session) -> Option<String> {
    if !purpose.trim().is_empty() {
        return None;
    }
    match session.thoughts() {
        [] => Some(String::new()),
        [only] => Some(excerpt(only.text())),
        _ => None,
    }
}

fn excerpt(text: &str) -> String {
    OneLine::new(text).with_max_chars(TITLE).to_string()
}

/// Returns the id in an argument, or that of the current session.
pub(crate) fn id_or_current(
    connection: &Connection,
    given: Option<SessionId>,
) -> Result<SessionId, ToolFailure> {
    let id = given.or_else(|| connection.current(SessionKind::Think));
    id.ok_or_else(|| {
        let message = "there is no current session; expected a `strategy`, to begin one, or the \
                       `sessionId` of an earlier one";
        ToolFailure::of_kind("no_session", message)
    })
}
