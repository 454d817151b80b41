use std::sync::Arc;

use super::context::Context;
use super::failure::Failure;
use super::named_step::NamedStep;
use crate::StepName;
use crate::journal::Journal;

/// The part of a run that a visit can see.
#[derive(Clone, Copy)]
pub(crate) struct Here<'a> {
    pub(crate) context: &'a Context<'a>,
    /// The step, if the run is watched or has a journal.
    pub(crate) step: Option<&'a NamedStep<'a>>,
}

/// A step and the journal that records it.
pub(crate) struct OnRecord<'a> {
    pub(crate) step: &'a Arc<StepName>,
    pub(crate) journal: &'a (dyn Journal + 'a),
}

impl<'a> Here<'a> {
    /// Returns whether everything inside the visit must run sequentially.
    pub(crate) fn in_order(self) -> bool {
        let journal = self.step.and_then(NamedStep::journal);
        journal.is_some_and(|journal| journal.in_order())
    }

    /// Returns the step and its journal. `what` names the place in the error if there is no
    /// journal.
    pub(crate) fn on_record(self, what: &'static str) -> Result<OnRecord<'a>, Failure> {
        let found = self.step.and_then(|named| {
            let step = &named.name;
            match (&named.attached.journal, &named.attached.answers) {
                (Some(journal), _) => Some(OnRecord {
                    step,
                    journal: &**journal,
                }),
                // Everything inside a visit starts over after a pause, and `answers` keeps no
                // outcomes.
                (None, Some(answers)) if !named.inside => Some(OnRecord {
                    step,
                    journal: answers.as_ref(),
                }),
                _ => None,
            }
        });

        found.ok_or(Failure::NoJournal { what })
    }
}
