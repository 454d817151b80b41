//! What a run is given before it begins.

use std::num::NonZeroU64;
use std::sync::Arc;

use cogwork_text::Name;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::Run;
use super::extra::{Extra, Folding};
use crate::EventSink;
use crate::execute::cursor::Cursor;
use crate::execute::journaled::Journaled;
use crate::execute::named_step::Attached;
use crate::journal::{Journal, Json, Snapshot};

impl<'f, S> Run<'f, S> {
    /// How many steps the run may take in all, those in subflows counted. It may be raised when
    /// the limit was reached, and the run goes on.
    ///
    /// # Default
    ///
    /// [`Run::DEFAULT_MAX_STEPS`].
    #[must_use]
    pub fn with_max_steps(mut self, steps: u64) -> Self {
        self.context.budget.max = steps;
        self
    }

    /// When the run stops, wherever it is. The clock is tokio's, so it can be paused in tests.
    ///
    /// # Default
    ///
    /// Never.
    #[must_use]
    pub fn with_deadline(mut self, deadline: Instant) -> Self {
        self.stop.get_or_insert_default().deadline = Some(deadline);
        self
    }

    /// Stops the run, wherever it is, when the token is cancelled. A run whose nodes never wait
    /// looks at it, as at the deadline, every 128 steps.
    ///
    /// # Default
    ///
    /// No token; dropping the future stops a run as well, but says nothing of where it was.
    #[must_use]
    pub fn with_cancellation(mut self, token: CancellationToken) -> Self {
        self.stop.get_or_insert_default().token = Some(token);
        self
    }

    /// The name of the run in its events.
    ///
    /// # Default
    ///
    /// The run id of its journal; without one `run 1`, `run 2` and so on, counted over the process.
    #[must_use]
    pub fn with_id(mut self, id: impl Into<Arc<str>>) -> Self {
        self.extra().id = Some(id.into());
        self
    }

    /// Tells what happens in the run; see [`events`](crate::events()).
    ///
    /// # Default
    ///
    /// Nobody is told, and it costs nothing.
    #[must_use]
    pub fn with_events(mut self, sink: EventSink) -> Self {
        self.extra().sink = Some(sink);
        self
    }

    /// Records every outcome of `exec`, and uses those that are on record already: with the journal
    /// of an earlier run, and the state that one began with, the run goes on where that one stopped.
    ///
    /// What `post` sees is what was read back from the record, also when it is new.
    ///
    /// # Default
    ///
    /// Nothing is recorded, and it costs nothing.
    #[must_use]
    pub fn with_journal(mut self, journal: impl Journal + 'f) -> Self {
        if let Some(snapshot) = journal.snapshot()
            && let Err(problem) = self.begin_at(&snapshot)
        {
            self.extra().misplaced = Some(problem);
        }

        let max_outcome = self.extra().max_outcome;
        self.attached().journal = Some(Journaled::new(Arc::new(journal), max_outcome));
        self
    }

    fn begin_at(&mut self, snapshot: &Snapshot) -> Result<(), String> {
        let Snapshot {
            node,
            number,
            steps,
            ..
        } = snapshot;

        if number > steps {
            return Err(format!(
                "its snapshot counts {number} steps of the flow, and {steps} in all"
            ));
        }

        let Some(cursor) = Cursor::at_node(&self.graph.wiring, node, *number) else {
            let node = node.join("/");
            let node = Name(&node);
            return Err(format!(
                "its snapshot stands at `{node}`, which is no node of this flow"
            ));
        };

        self.cursor = cursor;
        self.context.budget.begin_at(*steps);
        Ok(())
    }

    /// How large the JSON of an outcome may be, in bytes. One that is larger fails its `exec`, and is
    /// not recorded. Without a journal nothing is measured.
    ///
    /// # Default
    ///
    /// 16 MiB.
    #[must_use]
    pub fn with_max_outcome(mut self, bytes: usize) -> Self {
        self.extra().max_outcome = bytes;
        if let Some(journal) = &mut self.attached().journal {
            journal.max_outcome = bytes;
        }

        self
    }

    /// Puts a snapshot of the state in place of the record each time so many steps were taken, not
    /// counting those inside items and branches: the record of a long run then stays short. In a replay
    /// nothing is folded before the run is past its record. Where many answers wait for their steps, which
    /// each snapshot has to repeat, a fold is left out until as many lines were added.
    ///
    /// # Default
    ///
    /// The record grows as long as the run goes on.
    #[must_use]
    pub fn with_fold_every(mut self, steps: NonZeroU64) -> Self
    where
        S: Serialize + DeserializeOwned,
    {
        let write = |state: &S| {
            let json = Json::of(state)?;
            json.read::<S>()?; // a snapshot that cannot be read back would lose the run
            Ok(json)
        };

        self.extra().folding = Some(Folding {
            every: steps,
            write,
        });
        self
    }

    fn extra(&mut self) -> &mut Extra<S> {
        self.extra.get_or_insert_default()
    }

    pub(super) fn attached(&mut self) -> &mut Attached<'f> {
        self.context.attached.get_or_insert_default()
    }
}
