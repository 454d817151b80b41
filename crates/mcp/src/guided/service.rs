//! Beginning, reading and continuing sessions.

use std::future::Future;
use std::time::{SystemTime, UNIX_EPOCH};

use cogwork_text::{MultiLine, OneLine};
use serde_json::json;
use tokio::runtime::Handle;
use tokio::time::Instant;

use super::entry::{Entry, GivenReply, Settings, StopReason};
use super::offered::{OfferedReply, Sorted, all_refused};
use super::session::{Begun, GuidedSession};
use super::view::{Before, NotAccepted, View, Wanted};
use crate::store::{
    Change, Changed, NewSession, Owner, RecordedSessions, SessionId, SessionKind, SessionStore,
    StoreError,
};
use crate::tool::ToolFailure;

/// The maximum number of characters of the title of a session.
const TITLE: usize = 200;

/// The sessions of the tools `begin` and `answer`.
pub(super) struct Guided {
    sessions: RecordedSessions<GuidedSession>,
    clock: Clock,
}

impl Guided {
    pub(super) fn new(store: SessionStore) -> Self {
        Self {
            sessions: RecordedSessions::new(store),
            clock: Clock::new(),
        }
    }

    pub(super) fn limits(&self) -> &crate::ServerLimits {
        self.sessions.store().limits()
    }

    /// Returns the milliseconds since 1970.
    pub(super) fn now(&self) -> u64 {
        self.clock.now()
    }

    /// Begins a session.
    pub(super) async fn begin(
        &self,
        owner: &Owner,
        id: Option<SessionId>,
        settings: Settings,
    ) -> Result<View, ToolFailure> {
        // A session that could not even ask its first question isn't created.
        let trial = Begun::new(settings.clone(), self.limits()).map_err(ToolFailure::message)?;
        if let Some(end) = trial.end() {
            return Err(ToolFailure::message(end.reason));
        }

        let new = NewSession {
            id,
            kind: SessionKind::Guided,
            title: OneLine::new(&settings.problem)
                .with_max_chars(TITLE)
                .to_string(),
            strategy: settings.method.as_str().to_owned(),
        };
        let id = new.id.clone().unwrap_or_else(SessionId::random);

        let now = self.now();
        let change = self.sessions.change(owner, &id, Some(&new), |session| {
            if session.begun().is_some() {
                return Err(ToolFailure::message(format_args!(
                    "the session `{id}` already exists"
                )));
            }
            let settings = settings.clone();
            session
                .begin(settings.clone())
                .map_err(ToolFailure::message)?;
            let begun = session.begun().ok_or_else(|| not_begun(&id))?;

            let change = Change {
                text: settings.problem.clone(),
                strategy: Some(settings.method.as_str().to_owned()),
                ..Change::default()
            };
            Ok(Changed {
                result: View::new(&id, begun, Before::default(), Wanted::default(), now),
                entry: Entry::Begin(Box::new(settings)),
                change,
            })
        });
        change.await
    }

    /// Returns the state of a session. If its time is over, it ends.
    pub(super) async fn look(
        &self,
        owner: &Owner,
        id: &SessionId,
        wanted: Wanted,
    ) -> Result<View, ToolFailure> {
        let now = self.now();
        let looked = self.sessions.read(owner, id, |session| {
            let begun = session.begun()?;
            if begun.is_out_of_time(begun.elapsed(now)) {
                return Some(None);
            }
            Some(Some(View::new(
                id,
                begun,
                begun.with_done(Before::of),
                wanted,
                now,
            )))
        });

        match looked.await? {
            None => Err(not_begun(id)),
            Some(Some(view)) => Ok(view),
            Some(None) => self.stop(owner, id, StopReason::Time, wanted).await,
        }
    }

    /// Stops a session: the run asks for the best answer so far, or ends if it did so already.
    pub(super) async fn stop(
        &self,
        owner: &Owner,
        id: &SessionId,
        reason: StopReason,
        wanted: Wanted,
    ) -> Result<View, ToolFailure> {
        let now = self.now();
        let change = self.sessions.change(owner, id, None, |session| {
            let begun = session.begun_mut().ok_or_else(|| not_begun(id))?;
            if begun.end().is_some() {
                return Err(has_ended(id, begun, now));
            }
            Ok(stopped(id, begun, reason, wanted, now))
        });
        change.await
    }

    /// Gives replies to open questions.
    pub(super) async fn reply(
        &self,
        owner: &Owner,
        id: &SessionId,
        replies: Vec<OfferedReply>,
        wanted: Wanted,
    ) -> Result<View, ToolFailure> {
        let now = self.now();
        let change = self.sessions.change(owner, id, None, |session| {
            let begun = session.begun_mut().ok_or_else(|| not_begun(id))?;
            if begun.end().is_some() {
                return Err(has_ended(id, begun, now));
            }
            if begun.is_out_of_time(begun.elapsed(now)) {
                return Ok(stopped(id, begun, StopReason::Time, wanted, now));
            }
            replied(id, begun, &replies, wanted, now)
        });
        change.await
    }
}

fn stopped(
    id: &SessionId,
    begun: &mut Begun,
    reason: StopReason,
    wanted: Wanted,
    now: u64,
) -> Changed<Entry, View> {
    let at = begun.elapsed(now);
    let before = begun.with_done(Before::of);
    begun.stop(at, reason);

    Changed {
        entry: Entry::Stop { at, reason },
        change: Change {
            is_complete: Some(begun.end().is_some()),
            ..Change::default()
        },
        result: View::new(id, begun, before, wanted, now),
    }
}

fn replied(
    id: &SessionId,
    begun: &mut Begun,
    replies: &[OfferedReply],
    wanted: Wanted,
    now: u64,
) -> Result<Changed<Entry, View>, ToolFailure> {
    let Sorted {
        accepted,
        mut refused,
    } = Sorted::new(begun, replies);
    if accepted.is_empty() {
        return Err(all_refused(id, &refused));
    }

    let at = begun.elapsed(now);
    let before = begun.with_done(Before::of);
    let used = begun.give(at, &accepted);

    let is_used = |reply: &GivenReply| used.iter().any(|used| used.question == reply.question);
    let unused = accepted.iter().filter(|reply| !is_used(reply));
    refused.extend(unused.map(|reply| NotAccepted {
        question: reply.question.clone(),
        problem: "the question was no longer needed after the replies before it".to_owned(),
    }));

    let mut view = View::new(id, begun, before, wanted, now);
    view.not_accepted = refused;

    let texts: Vec<_> = used.iter().map(|reply| reply.reply.as_str()).collect();
    Ok(Changed {
        change: Change {
            is_complete: Some(begun.end().is_some()),
            text: texts.join("\n"),
            ..Change::default()
        },
        entry: Entry::Replies { at, replies: used },
        result: view,
    })
}

fn has_ended(id: &SessionId, begun: &Begun, now: u64) -> ToolFailure {
    let before = begun.with_done(Before::of);
    let view = View::new(id, begun, before, Wanted::default(), now);
    let view = MultiLine::new(view);
    let message = format!("the session has ended, so it takes no replies.\n{view}");
    let data = json!({"error": {"kind": "ended", "message": message, "sessionId": id}});
    ToolFailure::Described { message, data }
}

fn not_begun(id: &SessionId) -> ToolFailure {
    ToolFailure::message(format_args!(
        "the session `{id}` has no first entry, because the server was stopped while it began; \
         begin a new one"
    ))
}

/// A clock that starts at the system time, and is advanced by tokio's clock.
#[derive(Debug)]
pub(super) struct Clock {
    then: SystemTime,
    since: Instant,
}

impl Clock {
    pub(super) fn new() -> Self {
        Self {
            then: SystemTime::now(),
            since: Instant::now(),
        }
    }

    /// Returns the milliseconds since 1970.
    pub(super) fn now(&self) -> u64 {
        let then = self.then.duration_since(UNIX_EPOCH).unwrap_or_default();
        let now = then.saturating_add(self.since.elapsed());
        u64::try_from(now.as_millis()).unwrap_or(u64::MAX)
    }
}

/// Does work that reads replies on a thread for blocking work. It is done even if the caller is
/// dropped.
pub(super) async fn on_own_thread<T, E>(
    work: impl Future<Output = Result<T, E>> + Send + 'static,
) -> Result<T, E>
where
    T: Send + 'static,
    E: From<StoreError> + Send + 'static,
{
    let runtime = Handle::current();
    let done = tokio::task::spawn_blocking(move || runtime.block_on(work));

    done.await.unwrap_or_else(|_| {
        let message = "the call was interrupted; what was accepted is kept, so look at the session";
        Err(StoreError::new(message).into())
    })
}
