use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cogwork_typed::ask::Spent;
use serde::{Deserialize, Serialize};

use super::Visit;

/// The newest visits of a flow that ended without an output, including those in subflows.
///
/// A state shares them with attempts, which have no access to the state.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(from = "Vec<Visit>", into = "Vec<Visit>")]
pub(crate) struct Failed {
    visits: Arc<Mutex<Vec<Visit>>>,
    /// Those of the flow around, and the id of the subflow in it.
    around: Option<(Arc<Failed>, String)>,
}

impl Failed {
    const MAX: usize = 100;

    /// Returns the same visits.
    pub(super) fn share(&self) -> Self {
        Self {
            visits: Arc::clone(&self.visits),
            around: self.around.clone(),
        }
    }

    /// Returns those of a subflow, which are a part of these.
    pub(super) fn of_subflow(&self, id: &str) -> Self {
        Self {
            around: Some((Arc::new(self.share()), id.to_owned())),
            ..Self::default()
        }
    }

    /// Adds a visit. The oldest of too many is dropped, but not its cost.
    pub(crate) fn add(&self, visit: Visit) {
        // A subflow that fails is never absorbed by the flow around it.
        if let Some((around, id)) = &self.around {
            let node = format!("{id}/{}", visit.node);
            around.add(Visit {
                node,
                ..visit.clone()
            });
        }

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
        self.lock().clone()
    }

    pub(super) fn spent(&self) -> Spent {
        let mut sum = Spent::default();
        for visit in self.lock().iter() {
            sum += visit.spent;
        }
        sum
    }

    pub(super) fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }

    /// A panic elsewhere cannot leave the list inconsistent, so a poisoned lock is still usable.
    fn lock(&self) -> MutexGuard<'_, Vec<Visit>> {
        self.visits.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Clone for Failed {
    /// Copies the list, so that a copy of a state doesn't change with the original.
    fn clone(&self) -> Self {
        self.all().into()
    }
}

impl From<Vec<Visit>> for Failed {
    fn from(visits: Vec<Visit>) -> Self {
        Self {
            visits: Arc::new(Mutex::new(visits)),
            around: None,
        }
    }
}

impl From<Failed> for Vec<Visit> {
    fn from(failed: Failed) -> Self {
        failed.all()
    }
}
