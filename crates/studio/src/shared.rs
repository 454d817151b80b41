use std::fmt;
use std::sync::Arc;

use cogwork_journal::{RunQuery, RunSummary, Store, StoreError};
use tokio::sync::{Mutex, Semaphore};
use tokio_util::sync::CancellationToken;

use crate::Flows;
use crate::totals::TotalsCache;

/// What all requests share.
pub(crate) struct Shared {
    pub(crate) store: Store,
    pub(crate) totals: TotalsCache,
    pub(crate) flows: Box<dyn Flows>,
    /// A place for each live view.
    pub(crate) streams: Arc<Semaphore>,
    /// Held while an answer is checked and delivered.
    pub(crate) delivering: Mutex<()>,
    pub(crate) stop: CancellationToken,
}

impl Shared {
    /// Returns the summary of a run, if it exists.
    pub(crate) async fn find(&self, run_id: &str) -> Result<Option<RunSummary>, StoreError> {
        let query = RunQuery::new().run_id(run_id).limit(1);
        Ok(self.store.query(query).await?.pop())
    }

    /// Returns whether there are events of a run.
    pub(crate) async fn has_events(&self, run_id: &str) -> bool {
        let events = self.store.events(run_id, 0).await;
        events.is_ok_and(|events| !events.is_empty())
    }

    /// Returns whether the flow of a run can be resumed here.
    pub(crate) fn has_flow(&self, flow: &str) -> bool {
        self.flows.names().iter().any(|name| name == flow)
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared")
            .field("store", &self.store)
            .finish_non_exhaustive()
    }
}
