use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cogwork_ask::Spent;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Visit;

/// The failed visits of a flow and of its subflows.
///
/// They can be shared, because an attempt has no access to the state.
#[derive(Debug, Default)]
pub(crate) struct Failures {
    kept: Arc<Mutex<Kept>>,
    /// The path of the subflow, with a slash at its end.
    path: String,
}

#[derive(Debug, Clone, Default)]
struct Kept {
    newest: Vec<Visit>,
    /// Including those of visits that were dropped.
    spent: Spent,
}

impl Failures {
    const MAX: usize = 100;

    /// Returns the same list, to add failures to it.
    pub(super) fn shared(&self) -> Self {
        Self {
            kept: Arc::clone(&self.kept),
            path: self.path.clone(),
        }
    }

    pub(crate) fn push(&self, mut visit: Visit) {
        visit.node.insert_str(0, &self.path);

        let mut kept = self.lock();
        kept.spent += visit.spent;
        kept.newest.push(visit);

        if kept.newest.len() > Self::MAX {
            kept.newest.remove(0);
        }
    }

    /// Returns the failures of the subflow with this id.
    pub(super) fn inside(&self, id: &str) -> Self {
        Self {
            kept: Arc::clone(&self.kept),
            path: format!("{}{id}/", self.path),
        }
    }

    pub(super) fn all(&self) -> Vec<Visit> {
        let kept = self.lock();
        let ours = kept.newest.iter();
        ours.filter(|visit| visit.node.starts_with(&self.path))
            .cloned()
            .collect()
    }

    pub(super) fn spent(&self) -> Spent {
        if self.path.is_empty() {
            return self.lock().spent;
        }

        self.all().iter().fold(Spent::default(), |mut sum, visit| {
            sum += visit.spent;
            sum
        })
    }

    pub(super) fn is_empty(&self) -> bool {
        // Those of a subflow are part of the state around it.
        !self.path.is_empty() || self.lock().newest.is_empty()
    }

    /// A panic elsewhere cannot leave the list inconsistent, so a poisoned lock is still usable.
    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Clone for Failures {
    /// Copies the list, so that a copy of a state doesn't change with the original.
    fn clone(&self) -> Self {
        let kept = self.lock().clone();
        Self {
            kept: Arc::new(Mutex::new(kept)),
            path: self.path.clone(),
        }
    }
}

impl Serialize for Failures {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.all().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Failures {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let failures = Self::default();
        for visit in Vec::<Visit>::deserialize(deserializer)? {
            failures.push(visit);
        }

        Ok(failures)
    }
}
