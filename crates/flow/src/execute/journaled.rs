use std::ops::Deref;
use std::sync::Arc;

use crate::journal::Journal;

/// The default maximum size of an outcome, in bytes of JSON: 16 MiB.
pub(crate) const MAX_OUTCOME: usize = 16 << 20;

/// A journal with its settings.
#[derive(Clone)]
pub(crate) struct Journaled<'j> {
    journal: Arc<dyn Journal + 'j>,
    /// The id of the run.
    pub(crate) run: Arc<str>,
    pub(crate) max_outcome: usize,
}

impl<'j> Journaled<'j> {
    pub(crate) fn new(journal: Arc<dyn Journal + 'j>, max_outcome: usize) -> Self {
        let run = journal.run_id().into();
        Self {
            journal,
            run,
            max_outcome,
        }
    }
}

impl<'j> Deref for Journaled<'j> {
    type Target = dyn Journal + 'j;

    fn deref(&self) -> &Self::Target {
        self.journal.as_ref()
    }
}
