//! What runs have cost since their first start, by their events.

use cogwork_journal::{Store, StoreError, StoreErrorKind};
use cogwork_llm::Usage;
use cogwork_llm::layers::Prices;
use serde_json::Value;

/// The cost of all executions of runs, also of those that failed or were interrupted.
#[derive(Default)]
pub(crate) struct Cost {
    pub(crate) calls: u32,
    pub(crate) usage: Usage,
    /// The time in which the runs were executed.
    pub(crate) seconds: f64,
    /// The cost of the calls with a price, in US dollars.
    money: f64,
    /// The tokens of calls without a price, if there are any.
    unpriced: Option<Usage>,
    /// The time of the last event of an execution.
    at: f64,
}

impl Cost {
    /// Returns a cost of which only the numbers of calls and tokens are known.
    pub(crate) fn without_prices(self, calls: u32, usage: Usage) -> Self {
        Self {
            calls,
            usage,
            money: 0.0,
            unpriced: Some(usage),
            ..self
        }
    }

    /// Returns the numbers by the names of columns. The cost is missing if a call has no price.
    pub(crate) fn columns(&self, of: &str) -> impl Iterator<Item = (String, f64)> {
        let is_priced = self.unpriced.is_none();
        // A model without a price must not be free, or a limit on the cost would never be reached.
        let dearest = Prices::common().cost(None, self.unpriced.unwrap_or_default());
        let columns = [
            ("calls", Some(self.calls.into())),
            ("tokens", Some(self.usage.total_tokens() as f64)),
            ("cost", is_priced.then_some(self.money)),
            ("cost_at_most", Some(self.money + dearest)),
        ];
        columns
            .into_iter()
            .filter_map(move |(name, number)| Some((format!("{of}{name}"), number?)))
    }

    /// Adds the cost of a run.
    pub(crate) async fn add_run(&mut self, store: &Store, run: &str) -> Result<(), StoreError> {
        let mut position = 0;
        loop {
            let events = match store.events(run, position).await {
                // It was never started.
                Err(error) if error.kind() == StoreErrorKind::Missing => return Ok(()),
                events => events?,
            };
            let Some(last) = events.last() else {
                return Ok(());
            };

            position = last.next;
            // A crash may have cut an event.
            let events = events.iter();
            let events = events.filter_map(|event| serde_json::from_str(&event.json).ok());
            events.for_each(|event: Value| self.add(&event));
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
            self.add_call(report);
        }
    }

    fn add_call(&mut self, call: &Value) {
        let usage = &call["usage"];
        let tokens = |name: &str| usage.get(name).and_then(Value::as_u64).unwrap_or_default();
        let used = Usage {
            cached_tokens: tokens("cache_read"),
            cache_written_tokens: tokens("cache_write"),
            ..Usage::new(tokens("input"), tokens("output"))
        };
        self.calls += 1;
        self.usage += used;

        match call["cost"].as_f64() {
            Some(cost) => self.money += cost,
            // Rules and scripts have neither, and nor has a call that failed.
            None if usage.is_null() && call["model"].is_null() => {}
            None => *self.unpriced.get_or_insert_default() += used,
        }
    }
}
