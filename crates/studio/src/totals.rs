//! What runs were asked, answered and cost, from their events.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use cogwork_journal::{RunSummary, Store, StoreError};
use serde::Serialize;
use serde_json::Value;

/// The calls of a run, as far as its events were read, its input and its answer.
#[derive(Debug, Clone, Default, Serialize)]
pub(crate) struct Totals {
    #[serde(skip)]
    pub(crate) input: Option<String>,
    #[serde(skip)]
    pub(crate) answer: Option<String>,
    pub(crate) calls: u64,
    pub(crate) thoughts: u64,
    pub(crate) input_tokens: u64,
    pub(crate) output_tokens: u64,
    /// How long the run was executed, in seconds.
    pub(crate) seconds: f64,
    /// In the currency of the price table; `None` if no call has a price.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cost: Option<f64>,
    /// How long the run was executed until it was last resumed.
    #[serde(skip)]
    before: f64,
    /// The position up to which the events were read.
    #[serde(skip)]
    next: u64,
}

impl Totals {
    /// Adds the new events of a run.
    async fn read(&mut self, store: &Store, run_id: &str) -> Result<(), StoreError> {
        loop {
            let events = store.events(run_id, self.next).await?;
            if events.is_empty() {
                return Ok(());
            }

            for event in events {
                self.add(&event.json);
                self.next = event.next;
            }
        }
    }

    fn add(&mut self, line: &str) {
        let Ok(event) = serde_json::from_str::<Value>(line) else {
            return;
        };
        let text = |path: &str| event.pointer(path).and_then(Value::as_str);
        let number = |path: &str| event.pointer(path).and_then(Value::as_u64);
        let at = event.get("at").and_then(Value::as_f64);
        self.seconds = self.seconds.max(self.before + at.unwrap_or_default());

        match (text("/type"), text("/report/type")) {
            // Each resumption begins its times at 0.
            (Some("opened"), _) => {
                self.before = self.seconds;
                self.ask(text("/input"));
            }
            (Some("answered"), _) => self.answer = text("/text").map(str::to_owned),
            (Some("reported"), Some("started")) => self.ask(text("/report/problem")),
            (Some("reported"), Some("thought")) => self.thoughts += 1,
            (Some("reported"), Some("chat")) => {
                self.calls += 1;
                self.input_tokens += number("/report/usage/input").unwrap_or_default();
                self.output_tokens += number("/report/usage/output").unwrap_or_default();
                if let Some(cost) = event.pointer("/report/cost").and_then(Value::as_f64) {
                    self.cost = Some(self.cost.unwrap_or_default() + cost);
                }
            }
            _ => {}
        }
    }

    /// Sets the input of the run, which is what was asked first.
    fn ask(&mut self, input: Option<&str>) {
        if self.input.is_none() {
            self.input = input.map(str::to_owned);
        }
    }
}

/// The totals of runs.
#[derive(Debug, Default)]
pub(crate) struct TotalsCache(Mutex<HashMap<Key, Totals>>);

/// The id of a run, and when it was started: it may have been removed and started again.
type Key = (String, SystemTime);

impl TotalsCache {
    /// Returns the totals of a run, after reading its new events. `None` if it has none, or they cannot
    /// be read.
    pub(crate) async fn update(&self, store: &Store, run: &RunSummary) -> Option<Totals> {
        let key = (run.run_id.clone(), run.started);
        // A copy, so that lists of several clients don't wait for each other.
        let known = self.runs().get(&key).cloned();
        let mut totals = known.unwrap_or_default();
        totals.read(store, &run.run_id).await.ok()?;
        if totals.next == 0 {
            return None;
        }

        self.runs().insert(key, totals.clone());
        Some(totals)
    }

    fn runs(&self) -> MutexGuard<'_, HashMap<Key, Totals>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
