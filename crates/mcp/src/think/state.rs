//! The state of a session of `think`.

use std::sync::Arc;

use cogwork_strategies::{Session, Strategies};

use super::operation::{Done, Impossible, Operation, What};
use crate::store::{Recorded, Replaced, SessionKind, SessionStore};

/// A session, or nothing before its first entry.
pub(crate) struct ThinkState {
    strategies: Arc<Strategies>,
    begun: Option<Begun>,
    /// The number of operations so far, each of which is an entry.
    operations: u64,
    /// For each thought, what searches find for its entry if the thought is undone.
    without: Vec<Replaced>,
    /// That of the thought that the last operation has undone.
    undone: Option<Replaced>,
}

/// A session that has begun.
pub(crate) struct Begun {
    pub(crate) purpose: String,
    pub(crate) session: Session,
}

impl ThinkState {
    pub(crate) fn begun(&self) -> Option<&Begun> {
        self.begun.as_ref()
    }

    /// Returns the number of operations so far.
    pub(crate) fn operations(&self) -> u64 {
        self.operations
    }

    /// Returns what searches find from now on for the thought that the last operation has undone.
    pub(crate) fn undone(&self) -> Option<&Replaced> {
        self.undone.as_ref()
    }

    /// Performs an operation. If it is impossible, the state doesn't change.
    pub(crate) fn perform(&mut self, operation: Operation) -> Result<Done, Impossible> {
        let text = operation.words_without_thought();
        let done = match &mut self.begun {
            Some(begun) => operation.perform(&mut begun.session, &self.strategies),
            None => self.begin(operation),
        }?;

        self.operations = self.operations.saturating_add(1);
        let entry = self.operations;
        self.undone = match done.what {
            What::Undone(_) => self.without.pop(),
            _ => None,
        };
        if let What::Thought(_) = done.what {
            self.without.push(Replaced { entry, text });
        }
        Ok(done)
    }

    fn begin(&mut self, operation: Operation) -> Result<Done, Impossible> {
        let Operation::Begin {
            purpose,
            strategy,
            policy,
            first,
        } = operation
        else {
            return Err(Impossible::NotBegun);
        };

        let strategy = strategy.find(&self.strategies);
        let strategy = strategy.map_err(Impossible::Strategy)?;
        let mut session = Session::with_policy(strategy, policy);
        let branch = session.current();

        let what = match first {
            None => What::Begun,
            Some(draft) => What::Thought(session.think(draft)?),
        };
        self.begun = Some(Begun { purpose, session });
        Ok(Done { branch, what })
    }
}

impl Recorded for ThinkState {
    const KIND: Option<SessionKind> = Some(SessionKind::Think);

    type Entry = Operation;

    fn empty(store: &SessionStore) -> Self {
        Self {
            strategies: Arc::clone(store.strategies()),
            begun: None,
            operations: 0,
            without: Vec::new(),
            undone: None,
        }
    }

    fn replay(&mut self, entry: Operation) -> Result<(), String> {
        let done = self.perform(entry);
        done.map(drop).map_err(|error| error.to_string())
    }
}
