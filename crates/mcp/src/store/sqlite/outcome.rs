//! Jobs that the database has done.

use tokio::runtime::Handle;

use crate::store::StoreError;

/// A job that was done within a transaction that isn't committed yet.
pub(super) struct Outcome {
    pub(super) error: Option<StoreError>,
    /// Tells the caller whether the transaction was committed.
    pub(super) acknowledge: Box<Acknowledge>,
}

pub(super) type Acknowledge = dyn FnOnce(Result<(), StoreError>) + Send;

/// Jobs that were done. Their callers are told so when it is dropped.
pub(super) struct Done {
    pub(super) committed: Result<(), StoreError>,
    pub(super) acknowledges: Vec<Box<Acknowledge>>,
    /// Where the callers wait, if they all wait in one runtime.
    pub(super) runtime: Option<Handle>,
}

impl Done {
    /// Acknowledges the jobs in the runtime of their callers, which is woken only once.
    pub(super) fn acknowledge_there(self) {
        if let Some(runtime) = self.runtime.clone() {
            drop(runtime.spawn(async { drop(self) }));
        }
    }
}

impl Drop for Done {
    fn drop(&mut self) {
        for acknowledge in self.acknowledges.drain(..) {
            acknowledge(self.committed.clone());
        }
    }
}
