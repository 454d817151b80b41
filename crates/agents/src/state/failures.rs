use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cogwork_typed::ask::Spent;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Visit;

/// The newest failed visits of a flow and of its subflows.
///
/// They can be shared, because an attempt has no access to the state.
#[derive(Debug, Default)]
pub(crate) struct Failures {
    visits: Arc<Mutex<Vec<Visit>>>,
    /// The path of the subflow, with a slash at its end.
    path: String,
}

impl Failures {
    const MAX: usize = 100;

    /// Returns the failures of the subflow with this id, in the same list.
    pub(super) fn inside(&self, id: &str) -> Self {
        Self {
            path: format!("{}{id}/", self.path),
            ..self.shared()
        }
    }

    /// Returns the same list.
    pub(super) fn shared(&self) -> Self {
        Self {
            visits: Arc::clone(&self.visits),
            path: self.path.clone(),
        }
    }

    /// Adds a failed visit. The oldest of too many is dropped, but not its cost.
    pub(crate) fn push(&self, mut visit: Visit) {
        visit.node.insert_str(0, &self.path);
        let mut visits = self.lock();
        visits.push(visit);

        if visits.len() > Self::MAX {
            let oldest = visits.remove(0).spent;
            if let Some(next) = visits.first_mut() {
                next.spent += oldest;
            }
        }
    }

    pub(super) fn all(&self) -> Vec<Visit> {
        let visits = self.lock();
        let ours = visits
            .iter()
            .filter(|visit| visit.node.starts_with(&self.path));
        ours.cloned().collect()
    }

    pub(super) fn spent(&self) -> Spent {
        let mut sum = Spent::default();
        for visit in self.all() {
            sum += visit.spent;
        }
        sum
    }

    pub(super) fn is_empty(&self) -> bool {
        // Those of a subflow are part of the state around it.
        !self.path.is_empty() || self.lock().is_empty()
    }

    /// A panic elsewhere cannot leave the list inconsistent, so a poisoned lock is still usable.
    fn lock(&self) -> MutexGuard<'_, Vec<Visit>> {
        self.visits.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Clone for Failures {
    /// Copies the list, so that a copy of a state doesn't change with the original.
    fn clone(&self) -> Self {
        Self {
            visits: Arc::new(Mutex::new(self.lock().clone())),
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
        Ok(Self {
            visits: Arc::new(Mutex::new(Vec::deserialize(deserializer)?)),
            path: String::new(),
        })
    }
}
