//! A record that a later journal can go on with.

use std::sync::{Arc, Mutex};

use cogwork_flow::engine::{Entry, Log, Recorded};
use cogwork_flow::{BoxError, Ended, Flow, RunError};
use serde::Serialize;

/// Keeps its lines where another journal can find them.
#[derive(Clone, Default)]
pub(crate) struct Lines(pub(crate) Arc<Mutex<Vec<Entry>>>);

#[async_trait::async_trait]
impl Log for Lines {
    fn push(&self, entry: Entry) -> u64 {
        let mut lines = self.0.lock().unwrap();
        lines.push(entry);
        lines.len() as u64
    }

    fn replace(&self, entries: Vec<Entry>) -> u64 {
        *self.0.lock().unwrap() = entries;
        0
    }

    async fn written(&self, _: u64) -> Result<(), BoxError> {
        // As a disk does, it lets the run wait.
        tokio::task::yield_now().await;
        Ok(())
    }
}

impl Lines {
    /// A journal over the lines so far, as after a restart of the process.
    pub(crate) fn journal(&self) -> Recorded<Self> {
        Recorded::over("r", self.all(), self.clone()).unwrap()
    }

    /// Runs a flow with such a journal.
    pub(crate) async fn run<S: Serialize>(
        &self,
        flow: &Flow<S>,
        state: &mut S,
    ) -> Result<Ended, RunError> {
        let mut run = flow.begin().with_journal(self.journal());
        run.finish(state).await
    }

    pub(crate) fn all(&self) -> Vec<Entry> {
        self.0.lock().unwrap().clone()
    }

    /// The lines as JSON.
    #[allow(dead_code, reason = "not every test looks at them")]
    pub(crate) fn text(&self) -> String {
        let lines: Vec<_> = self
            .all()
            .iter()
            .map(|line| serde_json::to_string(line).unwrap())
            .collect();
        lines.join("\n")
    }
}
