//! Answers for events that a run waits for.

use serde::Serialize;

use super::Run;
use crate::execute::failure::Failure;
use crate::execute::named_step::Attached;
use crate::execute::recorder::MAX_OUTCOME;
use crate::journal::encode;
use crate::{FlowGraph, RunError};

impl<S> Run<'_, S> {
    /// Delivers the answer to an event that a [`Wait`](crate::Wait) of the run waits for, now or
    /// later.
    ///
    /// The events for which composite nodes [wait](crate::journal::wait_for) are only known once
    /// the run has reached the wait.
    ///
    /// # Errors
    ///
    /// Returns an error if no node of the flow waits for this event, if the run has ended, or if the
    /// answer cannot be recorded.
    pub async fn deliver(&self, event: &str, answer: &impl Serialize) -> Result<(), RunError> {
        let failed = |error| self.error(Failure::Journal(error));

        if self.cursor.ended().is_some() {
            let event = event.to_owned();
            return Err(self.error(Failure::AlreadyEnded { event }));
        }

        let attached = self.context.attached.as_deref();
        let journal = attached.and_then(Attached::keeper);
        let wiring = &self.graph.wiring;
        let journal = journal.filter(|journal| wiring.waits_for(event) || journal.awaits(event));
        let Some(journal) = journal else {
            let event = event.to_owned();
            let graph = FlowGraph::of(wiring);
            let known = graph.events().into_iter().map(str::to_owned).collect();
            return Err(self.error(Failure::UnknownEvent { event, known }));
        };

        let max_outcome = self
            .extra
            .as_ref()
            .map_or(MAX_OUTCOME, |extra| extra.max_outcome);
        let answer = encode(answer, max_outcome).map_err(|problem| failed(problem.into()))?;
        journal.deliver(event, answer).await.map_err(failed)
    }
}
