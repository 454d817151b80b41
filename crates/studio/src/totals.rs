//! What runs were asked, answered and cost, from their events.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use cogwork_journal::{RunSummary, Store, StoreError};
use serde::{Deserialize, Serialize};

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

/// The parts of a line that count.
#[derive(Deserialize)]
struct Counted<'l> {
    #[serde(rename = "type", borrow, default)]
    kind: Option<Cow<'l, str>>,
    #[serde(default)]
    at: f64,
    input: Option<String>,
    text: Option<String>,
    report: Option<Report>,
}

#[derive(Deserialize)]
struct Report {
    #[serde(rename = "type", default)]
    kind: String,
    #[serde(default)]
    usage: Option<Usage>,
    #[serde(default)]
    cost: Option<f64>,
    problem: Option<String>,
}

#[derive(Deserialize)]
struct Usage {
    #[serde(default)]
    input: u64,
    #[serde(default)]
    output: u64,
}

impl Totals {
    fn add(&mut self, line: &str) {
        let Ok(counted) = serde_json::from_str::<Counted<'_>>(line) else {
            return;
        };
        self.seconds = self.seconds.max(self.before + counted.at);

        match (counted.kind.as_deref(), counted.report) {
            (Some("opened"), _) => {
                self.before = self.seconds;
                self.ask(counted.input);
            }
            (Some("answered"), _) => self.answer = counted.text.map(shown),
            (Some("reported"), Some(report)) => self.add_report(report),
            _ => {}
        }
    }

    fn add_report(&mut self, report: Report) {
        match report.kind.as_str() {
            "chat" | "embedded" => self.add_call(&report),
            "thought" => self.thoughts += 1,
            "started" => self.ask(report.problem),
            _ => {}
        }
    }

    /// Sets the input of the run, which is what was asked first.
    fn ask(&mut self, input: Option<String>) {
        if self.input.is_none() {
            self.input = input.map(shown);
        }
    }

    fn add_call(&mut self, report: &Report) {
        self.calls += 1;
        if let Some(usage) = &report.usage {
            self.input_tokens = self.input_tokens.saturating_add(usage.input);
            self.output_tokens = self.output_tokens.saturating_add(usage.output);
        }
        if let Some(cost) = report.cost.filter(|cost| cost.is_finite()) {
            self.cost = Some(self.cost.unwrap_or_default() + cost);
        }
    }
}

/// Returns the beginning of a text.
fn shown(text: String) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => text.get(..end).unwrap_or_default().to_owned() + "…",
        None => text,
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
