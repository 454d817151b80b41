//! Starts a fork in a store.

use cogwork_flow::Flow;
use cogwork_text::Name;

use super::Fork;
use super::plan::Plan;
use crate::error::Kind;
use crate::record::Record;
use crate::{RunJournal, Store, StoreError};

/// How many ids are tried for a fork without an id.
const MAX_IDS: u32 = 10_000;

impl<S> Fork<S> {
    /// Reads the record of a run, and starts a new run with a part of it.
    pub(crate) async fn start(
        mut self,
        store: &Store,
        run_id: &str,
        flow: &Flow<S>,
    ) -> Result<RunJournal, StoreError> {
        let new_id = self.run_id.take();
        let plan = self.plan(store, run_id, flow).await?;
        let Plan {
            place,
            header,
            origin,
            lines,
            ..
        } = plan;

        let header = header.of_fork(flow.graph(), origin);
        let run = |id: &str| Record {
            header: header.clone().with_run_id(id),
            lines: lines.clone(),
        };

        if let Some(id) = new_id {
            return store.opener(&id).open(Some(run(&id)), None).await;
        }

        for number in 1..=MAX_IDS {
            let id = format!("{run_id} fork {number}");
            match store.opener(&id).open(Some(run(&id)), None).await {
                // A run that is in use exists as well.
                Err(error) if error.is_already_there() || error.is_locked() => {}
                opened => return opened,
            }
        }

        let run_id = Name(run_id);
        let problem = format_args!(
            "{place}: the run `{run_id}` cannot be forked: it has {MAX_IDS} forks without an id; \
             expected `Fork::with_run_id`"
        );
        Err(StoreError::new(Kind::AlreadyThere, problem))
    }
}
