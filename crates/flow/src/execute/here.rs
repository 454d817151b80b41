use std::sync::Arc;

use super::context::Context;
use super::failure::Failure;
use super::named_step::NamedStep;
use crate::StepName;
use crate::journal::Journal;

/// What a visit learns of the run.
#[derive(Clone, Copy)]
pub(crate) struct Here<'a> {
    pub(crate) context: &'a Context<'a>,
    /// The step, where the run is watched or journaled.
    pub(crate) step: Option<&'a NamedStep<'a>>,
}

/// A step and what keeps its record.
pub(crate) struct OnRecord<'a> {
    pub(crate) step: &'a Arc<StepName>,
    pub(crate) journal: &'a (dyn Journal + 'a),
}

impl<'a> Here<'a> {
    /// Whether what is inside the visit must run one after the other.
    pub(crate) fn in_order(self) -> bool {
        let journal = self.step.and_then(NamedStep::journal);
        journal.is_some_and(|journal| journal.in_order())
    }

    /// Returns the step and its record, for `what` cannot do without one.
    pub(crate) fn on_record(self, what: &'static str) -> Result<OnRecord<'a>, Failure> {
        let found = self.step.and_then(|named| {
            let step = &named.name;
            match (&named.attached.journal, &named.attached.mailbox) {
                (Some(journal), _) => Some(OnRecord {
                    step,
                    journal: &**journal,
                }),
                // What is inside a visit is begun anew after a pause: a mailbox keeps no outcomes.
                (None, Some(mailbox)) if !named.inside => Some(OnRecord {
                    step,
                    journal: mailbox.as_ref(),
                }),
                _ => None,
            }
        });

        found.ok_or(Failure::NoJournal { what })
    }
}
