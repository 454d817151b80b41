//! The sessions of `think`, and calls that read and change them.

use cogwork_strategies::{
    BranchId, EndRule, Session, SessionLimits, SessionPolicy, Strategies, Strategy, Thought,
    ThoughtDraft,
};
use serde_json::json;

use super::operation::{Done, Impossible, Operation, What};
use super::report::Report;
use super::rules::Rules;
use super::state::{Begun, ThinkState};
use crate::ServerLimits;
use crate::connection::Connection;
use crate::store::{
    Change, Changed, NewSession, RecordedSessions, SessionId, SessionKind, SessionStore,
};
use crate::tool::ToolFailure;

/// The maximum number of characters of a title that is taken from the first thought.
const TITLE: usize = 200;

/// The maximum number of changes of a session, as a multiple of that of its thoughts. A session is
/// read by repeating them, and scores and undone thoughts are changes as well.
const CHANGES: usize = 10;

/// All sessions of `think`.
pub(crate) struct ThinkSessions {
    sessions: RecordedSessions<ThinkState>,
}

/// How a session begins.
#[derive(Debug, Clone)]
pub(crate) struct Beginning {
    pub(crate) strategy: Strategy,
    pub(crate) purpose: String,
    pub(crate) early_end: EndRule,
    pub(crate) first: Option<ThoughtDraft>,
}

impl ThinkSessions {
    pub(crate) fn new(store: SessionStore) -> Self {
        Self {
            sessions: RecordedSessions::new(store),
        }
    }

    pub(crate) fn store(&self) -> &SessionStore {
        self.sessions.store()
    }

    pub(crate) fn limits(&self) -> &ServerLimits {
        self.store().limits()
    }

    pub(crate) fn strategies(&self) -> &Strategies {
        self.store().strategies()
    }

    /// Begins a session, which becomes the current one. If `id` is `None`, it gets a random one.
    pub(crate) async fn begin(
        &self,
        connection: &Connection,
        id: Option<SessionId>,
        beginning: Beginning,
    ) -> Result<Report, ToolFailure> {
        let exists = |_: &Session| Err(Impossible::AlreadyBegun.into_failure(None));
        self.begin_or_change(connection, id, beginning, exists)
            .await
    }

    /// Begins a session if there is none with this id, or changes it. It becomes the current one.
    pub(crate) async fn begin_or_change(
        &self,
        connection: &Connection,
        id: Option<SessionId>,
        beginning: Beginning,
        plan: impl Fn(&Session) -> Result<Operation, ToolFailure> + Send,
    ) -> Result<Report, ToolFailure> {
        let new = NewSession {
            id: id.clone(),
            kind: SessionKind::Think,
            title: title(&beginning),
            strategy: beginning.strategy.name().to_owned(),
        };
        let begin = self.begin_operation(&beginning);
        let id = id.unwrap_or_else(SessionId::random);

        let owner = connection.owner();
        let change = |state: &mut ThinkState| {
            let Some(begun) = state.begun() else {
                return begun_session(state, &id, begin.clone(), &beginning.strategy);
            };
            let operation = plan(&begun.session)?;
            self.changed(state, &id, operation)
        };
        let sessions = &self.sessions;
        let report = sessions.change(owner, &id, Some(&new), change);
        let report = report.await?;

        connection.set_current(SessionKind::Think, id);
        Ok(report)
    }

    /// Changes a session, which becomes the current one. If the change is refused, the failure has
    /// the place where the session still is.
    pub(crate) async fn change(
        &self,
        connection: &Connection,
        id: &SessionId,
        plan: impl Fn(&Session) -> Result<Operation, ToolFailure> + Send,
    ) -> Result<Report, ToolFailure> {
        let owner = connection.owner();
        let change = |state: &mut ThinkState| {
            let begun = state.begun().ok_or_else(not_begun)?;
            let operation = plan(&begun.session)?;
            self.changed(state, id, operation)
        };
        let report = self.sessions.change(owner, id, None, change).await?;

        connection.set_current(SessionKind::Think, id.clone());
        Ok(report)
    }

    /// Reads a session.
    pub(crate) async fn read<T>(
        &self,
        connection: &Connection,
        id: &SessionId,
        read: impl FnOnce(&Begun) -> Result<T, ToolFailure> + Send,
    ) -> Result<T, ToolFailure> {
        let owner = connection.owner();
        let found = self.sessions.read(owner, id, |state| {
            let begun = state.begun().ok_or_else(not_begun)?;
            read(begun)
        });
        found.await?
    }

    /// Removes a session of any kind. Returns whether there was one.
    ///
    /// Other tools read a session again when its entries have changed, as if another process had
    /// removed it.
    pub(crate) async fn remove(
        &self,
        connection: &Connection,
        id: &SessionId,
    ) -> Result<bool, ToolFailure> {
        Ok(self.store().remove(connection.owner(), id).await?)
    }

    /// Returns the entry for an operation on a session that has begun.
    fn changed(
        &self,
        state: &mut ThinkState,
        id: &SessionId,
        operation: Operation,
    ) -> Result<Changed<Operation, Report>, ToolFailure> {
        let recorded = operation.clone();
        let checked = self.check_operations(state);
        let performed = checked.and_then(|()| state.perform(operation));

        match performed {
            Ok(done) => entry(state, id, recorded, done),
            Err(impossible) => {
                let session = state.begun().map(|begun| &begun.session);
                let report = session.map(|session| unchanged(id, session, recorded.branch()));
                Err(impossible.into_failure(report.as_ref()))
            }
        }
    }

    fn check_operations(&self, state: &ThinkState) -> Result<(), Impossible> {
        let most = self.limits().thoughts.saturating_mul(CHANGES);
        let operations = state.operations();
        if usize::try_from(operations).is_ok_and(|operations| operations < most) {
            return Ok(());
        }
        Err(Impossible::Full(operations))
    }

    fn begin_operation(&self, beginning: &Beginning) -> Operation {
        let limits = self.limits();
        let mut policy = SessionPolicy::default();
        policy.early_end = beginning.early_end;
        policy.limits = SessionLimits::default()
            .with_thoughts(limits.thoughts)
            .with_branches(limits.branches);

        Operation::Begin {
            purpose: beginning.purpose.clone(),
            strategy: Rules::of(&beginning.strategy),
            policy,
            first: beginning.first.clone(),
        }
    }
}

/// Returns the entry for a session that begins.
fn begun_session(
    state: &mut ThinkState,
    id: &SessionId,
    operation: Operation,
    strategy: &Strategy,
) -> Result<Changed<Operation, Report>, ToolFailure> {
    let recorded = operation.clone();
    match state.perform(operation) {
        Ok(done) => entry(state, id, recorded, done),
        Err(impossible) => {
            let session = Session::new(strategy.clone());
            let report = Report::new(None, &session, nothing(session.current()));
            Err(impossible.into_failure(Some(&report)))
        }
    }
}

fn entry(
    state: &ThinkState,
    id: &SessionId,
    operation: Operation,
    done: Done,
) -> Result<Changed<Operation, Report>, ToolFailure> {
    let Begun { purpose, session } = state.begun().ok_or_else(not_begun)?;

    Ok(Changed {
        change: Change {
            title: title_by(purpose, session),
            strategy: Some(outermost(session, done.branch).to_owned()),
            is_complete: Some(session.is_complete()),
            text: operation.words(),
        },
        entry: operation,
        result: Report::new(Some(id), session, done),
    })
}

/// Returns where a session is, on a branch or on the current one if there is no such branch.
fn unchanged(id: &SessionId, session: &Session, branch: Option<BranchId>) -> Report {
    let branch = branch.filter(|id| session.branch(*id).is_ok());
    let branch = branch.unwrap_or_else(|| session.current());
    Report::new(Some(id), session, nothing(branch))
}

pub(crate) fn nothing(branch: BranchId) -> Done {
    let what = What::Nothing;
    Done { branch, what }
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
    cogwork_text::OneLine::new(text)
        .with_max_chars(TITLE)
        .to_string()
}

/// Returns the strategy of the last thought on a branch, or the one around it.
fn outermost(session: &Session, branch: BranchId) -> &str {
    let tip = session.branch(branch).ok().and_then(|branch| branch.tip());
    let strategy = tip.and_then(|tip| session.thought(tip)).map(around);
    strategy.unwrap_or_else(|| session.strategy()).name()
}

/// Returns the strategy of a thought, or the one around it.
pub(crate) fn around(thought: &Thought) -> &Strategy {
    let outer = thought.outer().last().map(|(strategy, _)| strategy);
    outer.unwrap_or_else(|| thought.strategy())
}

fn not_begun() -> ToolFailure {
    Impossible::NotBegun.into_failure(None)
}

/// Returns the id in an argument, or that of the current session.
pub(crate) fn session_id(
    connection: &Connection,
    given: Option<SessionId>,
) -> Result<SessionId, ToolFailure> {
    let id = given.or_else(|| connection.current(SessionKind::Think));
    id.ok_or_else(|| {
        let message = "there is no current session; expected a `strategy`, to begin one, or the \
                       `sessionId` of an earlier one"
            .to_owned();
        let data = json!({"error": {"kind": "no_session", "message": message}});
        ToolFailure::Described { message, data }
    })
}
