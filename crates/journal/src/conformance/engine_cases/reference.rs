//! What a run comes to if nothing disturbs it.

use std::collections::BTreeSet;

use crate::conformance::broken_promise::{BrokenPromise, Checked, equal, unexpected};
use crate::conformance::flows::Kind;
use crate::conformance::trial::Trial;
use crate::conformance::{MemoryEngine, Stopped};

pub(super) struct Reference {
    end: Stopped,
    steps: BTreeSet<String>,
    /// The number of calls, with those that were made again after a failure.
    pub(super) calls: usize,
    fails: Option<&'static str>,
}

impl Reference {
    pub(super) async fn of(kind: &Kind) -> Result<Self, BrokenPromise> {
        let engine = MemoryEngine::new();
        let mut trial = Trial::new(&engine, "r".to_owned(), kind.define, kind.input)?;
        let end = trial.until_the_end().await?;

        let calls = trial.world.calls();
        Ok(Self {
            end,
            calls: calls.len(),
            steps: calls.into_iter().collect(),
            fails: kind.fails,
        })
    }

    pub(super) fn succeeds(&self) -> bool {
        self.fails.is_none()
    }

    pub(super) fn check_end(&self, end: &Stopped) -> Checked {
        let at = "at the end of the run";
        match (self.fails, end) {
            (None, end) => equal(at, &self.end, end),
            (Some(fails), Stopped::Failed { error }) if error.contains(fails) => Ok(()),
            (Some(fails), end) => {
                unexpected(at, format_args!("an error that contains `{fails}`"), &end)
            }
        }
    }

    /// Checks that all calls were made. A run that failed may have made fewer of the others.
    pub(super) fn check_steps(&self, trial: &Trial<'_>) -> Checked {
        let made: BTreeSet<_> = trial.world.calls().into_iter().collect();
        if self.succeeds() {
            return equal("the calls of the whole run", &self.steps, &made);
        }

        Ok(())
    }
}
