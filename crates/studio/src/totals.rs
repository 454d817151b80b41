//! What runs were asked, answered and cost, from their events.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use cogwork_journal::{RunSummary, Store, StoreError};
use serde::Serialize;
use serde_json::Value;

/// How many runs are remembered.
const REMEMBERED: usize = 2_000;

/// How many bytes of the events of one run are read for a list. The next list continues there.
const READ_AT_ONCE: usize = 8 << 20;

/// The maximum length of the input and the answer of a run in a list, in characters.
const SHOWN: usize = 2_000;

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
    /// Whether more events are still to be read.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_partial: bool,
    /// How long the run was executed until it was last resumed.
    #[serde(skip)]
    before: f64,
}

impl Totals {
    fn add(&mut self, line: &str) {
        let Ok(event) = serde_json::from_str::<Value>(line) else {
            return;
        };
        let text = |path: &str| event.pointer(path).and_then(Value::as_str);
        let number = |path: &str| event.pointer(path).and_then(Value::as_u64);
        let at = event.get("at").and_then(Value::as_f64);
        self.seconds = self.seconds.max(self.before + at.unwrap_or_default());

        match (text("/type"), text("/report/type")) {
            (Some("opened"), _) => {
                self.before = self.seconds;
                self.ask(text("/input"));
            }
            (Some("answered"), _) => self.answer = text("/text").map(shown),
            (Some("reported"), Some("started")) => self.ask(text("/report/problem")),
            (Some("reported"), Some("thought")) => self.thoughts += 1,
            (Some("reported"), Some("chat" | "embedded")) => {
                self.calls += 1;
                self.input_tokens = self
                    .input_tokens
                    .saturating_add(number("/report/usage/input").unwrap_or_default());
                self.output_tokens = self
                    .output_tokens
                    .saturating_add(number("/report/usage/output").unwrap_or_default());
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
            self.input = input.map(shown);
        }
    }
}

/// Returns the beginning of a text.
fn shown(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => text.get(..end).unwrap_or_default().to_owned() + "…",
        None => text.to_owned(),
    }
}

/// The totals of runs, each with the position up to which its events were read.
#[derive(Debug, Default)]
pub(crate) struct TotalsCache(Mutex<HashMap<Key, Counting>>);

/// The id of a run, and when it was started: it may have been removed and started again.
type Key = (String, SystemTime);

#[derive(Debug, Clone, Default)]
struct Counting {
    next: u64,
    totals: Totals,
}

impl TotalsCache {
    /// Returns the totals of a run, after reading its new events. `None` if it has none, or they cannot
    /// be read.
    pub(crate) async fn update(&self, store: &Store, run: &RunSummary) -> Option<Totals> {
        let key = (run.run_id.clone(), run.started);
        let counting = self.runs().get(&key).cloned();
        let mut counting = counting.unwrap_or_default();
        counting.read(store, &run.run_id).await.ok()?;
        if counting.next == 0 {
            return None;
        }

        let totals = counting.totals.clone();
        let mut runs = self.runs();
        if runs.len() >= REMEMBERED {
            runs.clear();
        }
        runs.insert(key, counting);
        Some(totals)
    }

    fn runs(&self) -> MutexGuard<'_, HashMap<Key, Counting>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Counting {
    async fn read(&mut self, store: &Store, run_id: &str) -> Result<(), StoreError> {
        let mut read = 0;
        loop {
            let events = store.events(run_id, self.next).await?;
            self.totals.is_partial = read >= READ_AT_ONCE && !events.is_empty();
            if events.is_empty() || self.totals.is_partial {
                return Ok(());
            }

            for event in events {
                self.totals.add(&event.json);
                self.next = event.next;
                read += event.json.len();
            }
        }
    }
}
