use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cogwork_typed::ask::Spent;
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
    newest: Vec<Failure>,
    /// The cost of those that are no longer kept.
    spent_before: Spent,
}

#[derive(Debug, Clone)]
struct Failure {
    visit: Visit,
    /// Whether it was stopped from outside, so that it may be resumed.
    is_stopped: bool,
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

    /// Adds a visit that failed, or that was stopped from outside.
    pub(crate) fn push(&self, mut visit: Visit, is_stopped: bool) {
        visit.node.insert_str(0, &self.path);

        let mut kept = self.lock();
        kept.newest.push(Failure { visit, is_stopped });

        if kept.newest.len() > Self::MAX {
            let oldest = kept.newest.remove(0);
            kept.spent_before += oldest.visit.spent;
        }
    }

    /// Removes the last visit of a node if it was stopped, because it is now resumed: its recorded
    /// calls count again.
    pub(crate) fn resume(&self, node: &str) {
        let mut kept = self.lock();
        let path = format!("{}{node}", self.path);

        let last = kept.newest.iter().rposition(|one| one.visit.node == path);
        let Some(last) = last else { return };
        if kept.newest.get(last).is_some_and(|one| one.is_stopped) {
            kept.newest.remove(last);
        }
    }

    /// Keeps all visits of a node, because a later one has ended.
    pub(super) fn settle(&self, node: &str) {
        let path = format!("{}{node}", self.path);
        let mut kept = self.lock();
        let ours = kept.newest.iter_mut();

        ours.filter(|one| one.visit.node == path)
            .for_each(|one| one.is_stopped = false);
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
        let ours = kept.newest.iter().map(|one| &one.visit);
        ours.filter(|visit| visit.node.starts_with(&self.path))
            .cloned()
            .collect()
    }

    pub(super) fn spent(&self) -> Spent {
        let before = if self.path.is_empty() {
            self.lock().spent_before
        } else {
            Spent::default()
        };

        self.all().iter().fold(before, |mut sum, visit| {
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
            failures.push(visit, false);
        }

        Ok(failures)
    }
}
