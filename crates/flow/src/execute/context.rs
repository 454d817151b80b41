use std::sync::Arc;

use super::budget::Budget;
use super::failure::Failure;
use super::named_step::{Attached, NamedStep};
use crate::engine::Journal;

/// The part of a run that every visit gets.
pub(crate) struct Context {
    pub(crate) budget: Budget,
    /// `None` in most runs.
    pub(crate) attached: Option<Arc<Attached>>,
}

/// The part of a run that a visit can see.
#[derive(Clone, Copy)]
pub(crate) struct Here<'a> {
    pub(crate) context: &'a Context,
    /// The step, if the run is watched or has a journal.
    pub(crate) step: Option<&'a NamedStep>,
}

impl<'a> Here<'a> {
    /// Returns whether everything inside the visit must run sequentially.
    pub(crate) fn in_order(self) -> bool {
        let journal = self.step.and_then(NamedStep::journal);
        journal.is_some_and(|journal| journal.in_order())
    }

    /// Returns the step and the journal that keeps its waits. `what` names the place in the error if
    /// there is no journal.
    pub(crate) fn on_record(
        self,
        what: &'static str,
    ) -> Result<(&'a NamedStep, &'a dyn Journal), Failure> {
        let step = self.step.filter(|step| {
            // Everything inside a visit starts over after a pause, and what keeps the answers of a run
            // without a journal keeps no outcomes.
            step.journal().is_some() || !step.is_inside
        });

        let found = step.and_then(|step| Some((step, step.attached.keeper()?)));
        found.ok_or_else(|| {
            Failure::Refused(format!(
                "{what} needs a journal; give the run one with `Run::with_journal`"
            ))
        })
    }
}
