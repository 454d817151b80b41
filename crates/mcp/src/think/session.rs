//! The sessions of `think`, and calls that change them.

use cogwork_strategies::Strategy;
use cogwork_strategies::session::{Branch, Session, SessionError};
use cogwork_text::OneLine;
use serde::{Deserialize, Serialize};

use super::change::{Change, Done};
use super::report::Report;
use crate::ServerLimits;
use crate::connection::Connection;
use crate::failure::Failure;
use crate::markdown::{Shown, Step};
use crate::store::{Changed, NewSession, Recorded, SessionId, SessionKind, SessionStore, Stored};

/// The maximum number of characters of a title that is taken from the first thought.
const TITLE: usize = 200;

/// The maximum number of changes of a session, as a multiple of that of its thoughts. A session is
/// read by repeating them, and scores and undone thoughts are changes as well.
const CHANGES: usize = 10;

/// The maximum number of branches that a resource lists.
const BRANCHES: usize = 100;

/// An entry of a session.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Entry {
    /// The first one, with the table of the strategy.
    Begin {
        rules: Strategy,
        change: Change,
    },
    Change(Change),
}

/// A session, or nothing before its first entry.
#[derive(Default)]
pub(super) struct ThinkState {
    pub(super) session: Option<Session>,
    /// The number of entries so far.
    entries: usize,
}

impl Recorded for ThinkState {
    const KIND: SessionKind = SessionKind::Think;

    type Entry = Entry;

    fn replay(&mut self, entry: Entry) -> Result<(), Failure> {
        self.add(&entry, None).map(drop)
    }
}

impl ThinkState {
    /// Adds an entry. If it is impossible, or the limits don't allow it, the session doesn't change.
    fn add(&mut self, entry: &Entry, limits: Option<&ServerLimits>) -> Result<Done, Failure> {
        // A copy, because a change that fails may have been made in part.
        let (mut session, change) = match (entry, self.session.clone()) {
            (Entry::Change(change), Some(session)) => (session, change),
            (Entry::Begin { rules, change }, None) => (Session::new(rules.clone()), change),
            (Entry::Begin { .. }, Some(_)) => {
                let message = "the session already exists; choose another id";
                return Err(Failure::new(message));
            }
            (Entry::Change(_), None) => {
                let message = "the session has no beginning; begin another one";
                return Err(Failure::new(message));
            }
        };

        let done = change.make(&mut session)?;
        if let Some(limits) = limits {
            check_room(&session, limits)?;
        }
        self.session = Some(session);
        self.entries = self.entries.saturating_add(1);
        Ok(done)
    }

    /// Adds an entry, and reports where the session is then. A failure says where it still is.
    fn report(
        &mut self,
        id: &SessionId,
        entry: &Entry,
        limits: &ServerLimits,
    ) -> Result<Changed<Entry, String>, Failure> {
        let most = limits.thoughts.saturating_mul(CHANGES);
        // Each call repeats all of them, so their number is limited.
        if self.entries >= most {
            return Err(Failure::new(format_args!(
                "the session was changed {most} times, which is the limit; begin another one"
            )));
        }

        let done = self.add(entry, Some(limits)).map_err(|failure| {
            let place = self.place(id, entry);
            Failure::new(format_args!("{failure}. Nothing has changed.{place}"))
        })?;
        let Some(session) = &self.session else {
            return Err(Failure::new("the session has not begun"));
        };
        let report = Report {
            id: Some(id),
            session,
            branch: done.branch,
        };
        let text = format!("{}{report}", done.what);
        Ok(Changed::new(entry.clone(), text, session.is_complete()))
    }

    /// Returns where the session is, or would begin.
    fn place(&self, id: &SessionId, entry: &Entry) -> String {
        let begun = match entry {
            Entry::Begin { rules, .. } => Some(Session::new(rules.clone())),
            Entry::Change(_) => None,
        };
        let Some(session) = self.session.as_ref().or(begun.as_ref()) else {
            return String::new();
        };
        let (Entry::Begin { change, .. } | Entry::Change(change)) = entry;
        let report = Report {
            id: self.session.is_some().then_some(id),
            session,
            branch: change.branch(session),
        };
        format!("\n{report}")
    }
}

/// How a session begins.
pub(super) struct Beginning {
    pub(super) strategy: Strategy,
    pub(super) purpose: String,
}

/// Makes a change in a session, which begins with it if there is a beginning and no such session.
/// The session becomes the current one. Returns where it is then.
pub(super) async fn record(
    store: &SessionStore,
    connection: &Connection,
    id: SessionId,
    is_named: bool,
    beginning: Option<Beginning>,
    change: Change,
) -> Result<String, Failure> {
    let limits = store.limits;
    let new = beginning.as_ref().map(|beginning| NewSession {
        is_named,
        title: title(&beginning.purpose, &change),
        strategy: beginning.strategy.name().to_owned(),
    });

    let own = id.clone();
    let recorded = store.change(
        &connection.owner,
        &id,
        new,
        move |state: &mut ThinkState| {
            let entry = match (beginning, &state.session) {
                (Some(beginning), Some(session)) => {
                    check_begun(&beginning, session)?;
                    Entry::Change(change)
                }
                (Some(Beginning { strategy, .. }), None) => Entry::Begin {
                    // Kept with the session, which outlives the settings of the server.
                    rules: strategy,
                    change,
                },
                (None, _) => Entry::Change(change),
            };
            state.report(&own, &entry, &limits)
        },
    );
    let report = recorded.await?;

    connection.set_current(SessionKind::Think, id);
    Ok(report)
}

/// Checks that a session that was changed is within the limits.
fn check_room(session: &Session, limits: &ServerLimits) -> Result<(), SessionError> {
    let full = |most: usize, what: &str| Err(SessionError::Full(format!("{most} {what}")));

    if session.branches().len() > limits.branches {
        full(limits.branches, "branches")
    } else if session.thoughts().len() > limits.thoughts {
        full(limits.thoughts, "thoughts")
    } else {
        Ok(())
    }
}

/// Checks that a session follows the strategy, which models repeat, and isn't to begin again. It keeps
/// its rules, even if the server doesn't have the strategy any more, or another one of its name.
fn check_begun(beginning: &Beginning, session: &Session) -> Result<(), Failure> {
    let own = session.strategy().name();
    if beginning.strategy.name() != own {
        return Err(Failure::new(format_args!(
            "the session follows `{own}`; expected no other `strategy`, or another `sessionId`"
        )));
    }

    if !beginning.purpose.is_empty() {
        let message = "the session has begun, and `purpose` begins one; leave it out, or choose \
                       another `sessionId`";
        return Err(Failure::new(message));
    }
    Ok(())
}

fn title(purpose: &str, change: &Change) -> String {
    let first = match change {
        Change::Think(thinking) => thinking.draft.text.as_str(),
        _ => "",
    };
    let text = if purpose.trim().is_empty() {
        first
    } else {
        purpose
    };
    OneLine::new(text).with_max_chars(TITLE).to_string()
}

/// Returns what a resource shows of a session.
pub(crate) fn shown(stored: &Stored) -> Result<Shown, Failure> {
    let state: ThinkState = stored.state()?;
    let mut shown = Shown::of(&stored.header);
    let Some(session) = state.session else {
        return Ok(shown);
    };

    let branches = session.branches();
    let listed = branches.iter().take(BRANCHES);
    shown
        .facts
        .extend(listed.map(|one| ("Branch", branch(one))));
    let thoughts = session.thoughts().iter();
    let steps = thoughts.map(|thought| Step::of(&session, thought));
    Ok(shown.with_steps(steps.collect(), 0))
}

fn branch(branch: &Branch) -> String {
    let name = &branch.name;
    let status = branch.status;
    let thoughts = match branch.thoughts.len() {
        1 => "1 thought".to_owned(),
        more => format!("{more} thoughts"),
    };

    let from = branch
        .from
        .map_or_else(String::new, |from| format!(", from thought {from}"));
    let score = branch.score;
    let score = score.map_or_else(String::new, |score| format!(", score {score}"));
    format!("{name}: {status}, {thoughts}{from}{score}")
}
