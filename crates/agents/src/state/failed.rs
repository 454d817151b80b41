use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cogwork_typed::ask::Spent;
use serde::{Deserialize, Serialize};

/// What visits of a flow have cost that ended without an output, including those in subflows.
///
/// A state shares it with attempts, which have no access to the state.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(from = "Spent", into = "Spent")]
pub(crate) struct Failed {
    sum: Arc<Mutex<Spent>>,
    /// That of the flow around.
    around: Option<Arc<Failed>>,
}

impl Failed {
    /// Returns the same sum.
    pub(super) fn share(&self) -> Self {
        Self {
            sum: Arc::clone(&self.sum),
            around: self.around.clone(),
        }
    }

    /// Returns the sum of a subflow, which is a part of this one.
    pub(super) fn of_subflow(&self) -> Self {
        Self {
            around: Some(Arc::new(self.share())),
            ..Self::default()
        }
    }

    pub(crate) fn add(&self, spent: Spent) {
        *self.lock() += spent;
        if let Some(around) = &self.around {
            // A subflow that fails is never absorbed by the flow around it.
            around.add(spent);
        }
    }

    pub(super) fn spent(&self) -> Spent {
        *self.lock()
    }

    pub(super) fn is_zero(&self) -> bool {
        self.spent().is_zero()
    }

    /// A panic elsewhere cannot leave the sum inconsistent, so a poisoned lock is still usable.
    fn lock(&self) -> MutexGuard<'_, Spent> {
        self.sum.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Clone for Failed {
    /// Copies the sum, so that a copy of a state doesn't change with the original.
    fn clone(&self) -> Self {
        self.spent().into()
    }
}

impl From<Spent> for Failed {
    fn from(spent: Spent) -> Self {
        Self {
            sum: Arc::new(Mutex::new(spent)),
            around: None,
        }
    }
}

impl From<Failed> for Spent {
    fn from(failed: Failed) -> Self {
        failed.spent()
    }
}
