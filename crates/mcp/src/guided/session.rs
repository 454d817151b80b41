//! A session: a run that follows from what the host gave it.

use std::sync::{Arc, MutexGuard};

use super::board::Board;
use super::entry::{Budget, Entry, Reply, Settings, StopReason};
use super::question::Question;
use super::reasoner::{Done, Machine, Progress, Reasoner, reasoner};
use crate::ServerLimits;
use crate::method::Method;
use crate::run::{End, Status};
use crate::store::{Recorded, SessionKind, SessionStore};

/// A session that may not have begun yet.
pub(super) struct GuidedSession {
    limits: ServerLimits,
    pub(super) begun: Option<Begun>,
}

/// A session in progress, or one that has ended.
pub(super) struct Begun {
    settings: Settings,
    reasoner: Box<dyn Reasoner>,
    machine: Machine,
    board: Board,
    progress: Progress,
    /// The time of the last entry, in milliseconds since the beginning.
    at: u64,
    /// The number of replies of the model.
    replies: u32,
    /// Why the session is stopped, if it is.
    stopping: Option<StopReason>,
}

impl Recorded for GuidedSession {
    const KIND: SessionKind = SessionKind::Guided;

    type Entry = Entry;

    fn empty(store: &SessionStore, _: u64) -> Self {
        Self {
            limits: *store.limits(),
            begun: None,
        }
    }

    fn replay(&mut self, entry: Entry) -> Result<(), String> {
        if let Entry::Begin(settings) = entry {
            self.begun = Some(Begun::new(*settings, &self.limits)?);
            return Ok(());
        }

        let session = self.begun.as_mut();
        let session = session.ok_or_else(|| "the session has not begun".to_owned())?;
        match entry {
            Entry::Replies { at, replies } => session.replay_replies(at, &replies)?,
            Entry::Stop { at, reason } => session.stop(at, reason),
            Entry::Begin(_) => {}
        }
        Ok(())
    }
}

impl Begun {
    /// Begins a run, and lets it ask its first questions.
    pub(super) fn new(settings: Settings, limits: &ServerLimits) -> Result<Self, String> {
        let board = Board::default();
        let progress = Progress::default();
        let reasoner = reasoner(&settings, limits, &board, &progress)?;
        let mut machine = Machine::new(reasoner.run());
        machine.settle();

        Ok(Self {
            settings,
            reasoner,
            machine,
            board,
            progress,
            at: 0,
            replies: 0,
            stopping: None,
        })
    }

    pub(super) fn settings(&self) -> &Settings {
        &self.settings
    }

    pub(super) fn budget(&self) -> &Budget {
        &self.settings.budget
    }

    /// Returns the number of replies of the model.
    pub(super) fn replies(&self) -> u32 {
        self.replies
    }

    /// Returns what was done so far.
    pub(super) fn done(&self) -> MutexGuard<'_, Done> {
        self.progress.locked()
    }

    /// Returns how the session ended, or `None` if it hasn't ended.
    pub(super) fn end(&self) -> Option<End> {
        if self.machine.is_running() {
            return None;
        }

        let end = self.progress.locked().end.clone();
        let is_answered = |end: &End| end.status == Status::Answered;
        match self.stopping {
            Some(reason) if !end.as_ref().is_some_and(is_answered) => Some(self.stopped(reason)),
            _ => Some(end.unwrap_or_else(|| End::failed("the run ended without a result"))),
        }
    }

    fn stopped(&self, reason: StopReason) -> End {
        let budget = self.budget();
        let reason = match reason {
            StopReason::Asked => "stopped early, as asked".to_owned(),
            StopReason::Time => format!("the budget of {} seconds is spent", budget.seconds),
            StopReason::Replies => format!("the budget of {} replies is spent", budget.replies),
        };
        End {
            status: Status::Stopped,
            reason,
        }
    }

    /// Returns the questions that wait for a reply.
    pub(super) fn questions(&self) -> Vec<Arc<Question>> {
        self.board.questions()
    }

    /// Returns the time since the beginning in milliseconds. It never decreases.
    pub(super) fn elapsed(&self, now: u64) -> u64 {
        now.saturating_sub(self.settings.began).max(self.at)
    }

    /// Returns whether the time of the budget is over.
    pub(super) fn is_out_of_time(&self, at: u64) -> bool {
        self.machine.is_running() && at >= self.budget().milliseconds()
    }

    /// Gives the replies to the run one after another, and returns those that were used. A reply
    /// may make other questions unnecessary.
    pub(super) fn give(&mut self, at: u64, replies: &[Reply]) -> Vec<Reply> {
        self.at = at;
        let used = replies.iter().filter(|reply| self.give_one(reply));
        let used = used.cloned().collect();

        self.stop_in_time();
        used
    }

    fn replay_replies(&mut self, at: u64, replies: &[Reply]) -> Result<(), String> {
        let used = self.give(at, replies);
        if used.len() == replies.len() {
            return Ok(());
        }

        let recorded = &self.settings.version;
        let current = env!("CARGO_PKG_VERSION");
        Err(format!(
            "it replies to a question that isn't asked here; the session was recorded by version {recorded}, \
             this is version {current}; begin a new session"
        ))
    }

    fn give_one(&mut self, reply: &Reply) -> bool {
        let Some(question) = self.board.reply(reply.clone()) else {
            return false;
        };

        if !question.is_for_tool() {
            self.replies = self.replies.saturating_add(1);
        }
        self.machine.settle();
        self.stop_before_last_reply();
        true
    }

    /// Stops the session: the run asks for the best answer so far. If it does so already, it ends.
    pub(super) fn stop(&mut self, at: u64, reason: StopReason) {
        self.at = at;
        if self.is_out_of_time(at) {
            self.end_now(StopReason::Time);
            return;
        }
        self.stop_because(reason);
    }

    fn stop_because(&mut self, reason: StopReason) {
        if !self.machine.is_running() {
            return;
        }

        let left = self.budget().replies.saturating_sub(self.replies);
        if self.stopping.is_some() || left == 0 {
            self.end_now(reason);
            return;
        }

        self.stopping = Some(reason);

        // The run before is dropped first, and with it its questions.
        self.machine = Machine::new(std::future::ready(()));
        self.reasoner.conclude(left);
        self.machine = Machine::new(self.reasoner.run());
        self.machine.settle();
    }

    /// Ends the session with the best answer so far.
    fn end_now(&mut self, reason: StopReason) {
        self.stopping.get_or_insert(reason);
        self.machine = Machine::new(std::future::ready(()));
        self.machine.settle();
    }

    /// Asks for the best answer so far if the budget suffices for one more reply, and ends the
    /// session if it is spent. Strategies count their calls by themselves.
    fn stop_before_last_reply(&mut self) {
        let left = self.budget().replies.saturating_sub(self.replies);
        let is_counted = matches!(self.settings.method, Method::Strategy(_));

        let is_before_last = left == 1 && !is_counted && self.stopping.is_none();
        if left == 0 || is_before_last {
            self.stop_because(StopReason::Replies);
        }
    }

    /// Asks for the best answer so far if the time suffices for about one more reply.
    fn stop_in_time(&mut self) {
        let limit = self.budget().milliseconds();
        let replies = u64::from(self.replies.max(1));
        let per_reply = (self.at / replies).min(limit / 4);

        if self.stopping.is_none() && self.at.saturating_add(per_reply) >= limit {
            self.stop_because(StopReason::Time);
        }
    }
}
