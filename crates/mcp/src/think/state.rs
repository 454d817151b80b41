//! The state of a session of `think`.

use cogwork_strategies::Session;

use super::operation::{Done, Impossible, Operation, What, found};
use crate::store::{Recorded, SessionKind, SessionStore};

/// A session, or nothing before its first entry.
pub(crate) struct ThinkState {
    begun: Option<Begun>,
    /// The number of operations so far, each of which is an entry.
    operations: u64,
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

    /// Performs an operation. If it is impossible, the state doesn't change.
    pub(crate) fn perform(&mut self, operation: Operation) -> Result<Done, Impossible> {
        let done = match &mut self.begun {
            Some(begun) => operation.perform(&mut begun.session),
            None => self.begin(operation),
        }?;

        self.operations = self.operations.saturating_add(1);
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

        let mut session = Session::with_policy(found(&strategy)?, policy);
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
    const KIND: SessionKind = SessionKind::Think;

    type Entry = Operation;

    fn empty(_: &SessionStore, _: u64) -> Self {
        Self {
            begun: None,
            operations: 0,
        }
    }

    fn replay(&mut self, entry: Operation) -> Result<(), String> {
        let done = self.perform(entry);
        done.map(drop).map_err(|error| error.to_string())
    }
}
