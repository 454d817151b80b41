use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::ask::Spent;

/// The cost of the failed attempts at the current step of a run, as a part of its state.
///
/// An attempt has no access to the state, so a [`Tally`](crate::ask::Tally) writes the cost here when
/// the attempt fails. If the run is continued, the next attempt begins with this cost, and the
/// step includes it once it succeeds.
///
/// A clone doesn't change with the original.
///
/// ```
/// use cogwork_typed::ask::{FailedAttempts, Tally};
///
/// let failed = FailedAttempts::default();
/// let first = Tally::after(&failed);
/// first.count_call();
/// first.fail();
/// assert_eq!(failed.spent().calls, 1);
///
/// let second = Tally::after(&failed);
/// second.count_call();
/// assert_eq!(second.spent().calls, 2);
/// failed.clear();
/// ```
#[derive(Debug, Default)]
pub struct FailedAttempts(Arc<Mutex<Spent>>);

impl FailedAttempts {
    /// Returns the cost.
    pub fn spent(&self) -> Spent {
        *self.locked()
    }

    /// Sets the cost to zero, because the step has ended.
    pub fn clear(&self) {
        self.set(Spent::default());
    }

    /// Returns whether there is no cost.
    pub fn is_zero(&self) -> bool {
        self.spent().is_zero()
    }

    /// Returns the same cost, to change it from an attempt.
    pub(crate) fn share(&self) -> Self {
        Self(Arc::clone(&self.0))
    }

    pub(crate) fn set(&self, spent: Spent) {
        *self.locked() = spent;
    }

    /// A panic can't leave the numbers half changed, so a poisoned lock can still be used.
    fn locked(&self) -> MutexGuard<'_, Spent> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl From<Spent> for FailedAttempts {
    fn from(spent: Spent) -> Self {
        Self(Arc::new(Mutex::new(spent)))
    }
}

impl Clone for FailedAttempts {
    fn clone(&self) -> Self {
        Self::from(self.spent())
    }
}

impl Serialize for FailedAttempts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.spent().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for FailedAttempts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Spent::deserialize(deserializer).map(Self::from)
    }
}
