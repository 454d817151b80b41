//! The requests that are in progress.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::model::RequestId;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// A place among the requests that are handled at the same time.
pub(crate) type Place = OwnedSemaphorePermit;

/// The ids of all requests that haven't been answered, and a bound on how many are handled at the
/// same time.
#[derive(Debug, Clone)]
pub(crate) struct InFlight {
    requests: Arc<Mutex<HashMap<RequestId, Option<Place>>>>,
    places: Arc<Semaphore>,
}

impl InFlight {
    pub(crate) fn new(places: usize) -> Self {
        Self {
            requests: Arc::default(),
            places: Arc::new(Semaphore::new(places.min(Semaphore::MAX_PERMITS))),
        }
    }

    /// Adds a request. Returns whether its id was unused.
    pub(crate) fn add(&self, id: &RequestId) -> bool {
        match self.lock().entry(id.clone()) {
            Entry::Occupied(_) => false,
            Entry::Vacant(vacant) => {
                vacant.insert(None);
                true
            }
        }
    }

    /// Returns whether a request with this id hasn't been answered.
    pub(crate) fn contains(&self, id: &RequestId) -> bool {
        let requests = self.lock();
        !requests.is_empty() && requests.contains_key(id)
    }

    /// Waits until another request may start. Returns `None` never, because places aren't closed.
    pub(crate) async fn place(&self) -> Option<Place> {
        Arc::clone(&self.places).acquire_owned().await.ok()
    }

    /// Returns a place if another request may start now.
    pub(crate) fn free_place(&self) -> Option<Place> {
        Arc::clone(&self.places).try_acquire_owned().ok()
    }

    /// Keeps the place of a request until it is removed.
    pub(crate) fn start(&self, id: &RequestId, place: Option<Place>) {
        self.lock().insert(id.clone(), place);
    }

    /// Removes a request. Others may start as soon as the returned place is dropped.
    pub(crate) fn remove(&self, id: &RequestId) -> Option<Place> {
        self.lock().remove(id).flatten()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<RequestId, Option<Place>>> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
