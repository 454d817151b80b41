//! Answers for events that a run waits for.

use cogwork_text::{Name, NameList};
use serde::Serialize;

use super::Run;
use crate::execute::failure::Failure;
use crate::journal::{Journal, encode};
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

        let name = Name(event);
        if self.cursor.ended().is_some() {
            let reason = format!("the run has ended, so nothing waits for the event `{name}`");
            return Err(self.error(Failure::Refused(reason)));
        }

        let wiring = &self.flow.wiring;
        let awaits = |journal: &dyn Journal| wiring.waits_for(event) || journal.awaits(event);
        let attached = self.context.attached.as_deref();
        let found = attached.and_then(|attached| Some((attached, attached.keeper()?)));
        let Some((attached, journal)) = found.filter(|(_, journal)| awaits(*journal)) else {
            let graph = FlowGraph::of(wiring);
            let known: Vec<_> = graph.events().into_iter().collect();
            let known = NameList::and(&known);
            let reason =
                format!("no node waits for the event `{name}`; the flow waits for {known}");
            return Err(self.error(Failure::Refused(reason)));
        };

        let answer =
            encode(answer, attached.max_outcome).map_err(|problem| failed(problem.into()))?;
        journal.deliver(event, answer).await.map_err(failed)
    }
}
