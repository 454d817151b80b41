use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use cogwork_flow::Flow;
use cogwork_flow::journal::MemoryJournal;
use serde_json::Value;

use super::{Ability, Attempt, Refusal, RefusalKind, State, Stopped, TestedEngine, execute};
use crate::mutex::lock;

/// Runs with a [`MemoryJournal`] each, in this process.
#[derive(Debug, Default)]
pub struct MemoryEngine(Mutex<HashMap<String, MemoryRun>>);

#[derive(Debug, Clone)]
struct MemoryRun {
    journal: Arc<MemoryJournal>,
    flow: Arc<Flow<State>>,
}

impl MemoryEngine {
    /// Creates an engine without runs.
    pub fn new() -> Self {
        Self::default()
    }

    fn run(&self, attempt: &Attempt) -> Arc<MemoryJournal> {
        let mut runs = lock(&self.0);
        let run = runs
            .entry(attempt.run_id.clone())
            .or_insert_with(|| MemoryRun {
                journal: Arc::new(MemoryJournal::new(&attempt.run_id)),
                flow: Arc::clone(&attempt.flow),
            });
        run.flow = Arc::clone(&attempt.flow);
        Arc::clone(&run.journal)
    }
}

#[async_trait]
impl TestedEngine for MemoryEngine {
    fn name(&self) -> String {
        "MemoryJournal".to_owned()
    }

    fn lacks(&self, ability: Ability) -> Option<&'static str> {
        match ability {
            Ability::DropAnywhere | Ability::ReplayAfterEnd => None,
            Ability::ChangedFlows => Some("a journal in memory doesn't outlive the program"),
            Ability::LateAnswers => {
                Some("the journal doesn't know the flow; `Run::deliver` checks")
            }
            Ability::Cancellation => Some("a program cancels its own run"),
            _ => Some("a journal in memory belongs to one run in one process"),
        }
    }

    async fn proceed(&self, attempt: Attempt) -> Result<Stopped, Refusal> {
        let journal = self.run(&attempt);
        execute(&attempt.flow, journal, attempt.input).await
    }

    async fn deliver(&self, run_id: &str, event: &str, answer: &str) -> Result<(), Refusal> {
        let run = lock(&self.0).get(run_id).cloned();
        let run = run.ok_or_else(|| Refusal::new(RefusalKind::Missing, "there is no such run"))?;
        let answer: Value = serde_json::from_str(answer)
            .map_err(|error| Refusal::new(RefusalKind::Other, error))?;

        let delivering = run.flow.begin().with_journal(run.journal);
        let delivered = delivering.deliver(event, &answer).await;
        delivered.map_err(|error| {
            let kind = if error.is_journal() {
                RefusalKind::Other
            } else {
                RefusalKind::UnknownEvent
            };
            Refusal::new(kind, error)
        })
    }
}
