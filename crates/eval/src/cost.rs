//! What a run has cost since its first start, by its events.

use cogwork_journal::{Store, StoreError, StoreErrorKind};
use cogwork_llm::Usage;
use serde_json::Value;

/// The cost of all executions of a run, also of those that failed or were interrupted.
#[derive(Default)]
pub(crate) struct Cost {
    pub(crate) calls: u32,
    pub(crate) usage: Usage,
    /// The time in which the run was executed.
    pub(crate) seconds: f64,
    /// The time of the last event of an execution.
    at: f64,
}

impl Cost {
    pub(crate) async fn of(store: &Store, run: &str) -> Result<Self, StoreError> {
        let mut cost = Self::default();
        let mut position = 0;
        loop {
            let events = match store.events(run, position).await {
                // It was never started.
                Err(error) if error.kind() == StoreErrorKind::Missing => return Ok(cost),
                events => events?,
            };
            let Some(last) = events.last() else {
                return Ok(cost);
            };

            position = last.next;
            // A crash may have cut an event.
            let events = events.iter();
            let events = events.filter_map(|event| serde_json::from_str(&event.json).ok());
            events.for_each(|event: Value| cost.add(&event));
        }
    }

    fn add(&mut self, event: &Value) {
        // Each execution has a clock of its own, so the time between them isn't counted.
        if event["type"] == "opened" {
            self.at = 0.0;
        }
        let at = event["at"].as_f64().unwrap_or_default();
        self.seconds += (at - self.at).max(0.0);
        self.at = self.at.max(at);

        let report = &event["report"];
        let is_call = report["type"] == "chat" || report["type"] == "chat_failed";
        if event["source"] == "chat" && is_call {
            let usage = &report["usage"];
            let tokens = |name: &str| usage.get(name).and_then(Value::as_u64).unwrap_or_default();
            self.usage += Usage {
                cached_tokens: tokens("cache_read"),
                cache_written_tokens: tokens("cache_write"),
                ..Usage::new(tokens("input"), tokens("output"))
            };
            self.calls += 1;
        }
    }
}
