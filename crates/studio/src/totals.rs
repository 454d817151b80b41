//! What runs cost, added up from their events.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use cogwork_journal::{RunSummary, Store, StoreError};
use serde::{Deserialize, Serialize};

/// How many runs are remembered.
const REMEMBERED: usize = 2_000;

/// How many bytes of the events of one run are read for a list. The next list continues there.
const READ_AT_ONCE: usize = 8 << 20;

/// The calls of a run, as far as its events were read.
#[derive(Debug, Clone, Default, Serialize)]
pub(crate) struct Totals {
    pub(crate) calls: u64,
    pub(crate) thoughts: u64,
    pub(crate) input: u64,
    pub(crate) output: u64,
    /// In the currency of the price table; `None` if no call has a price.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cost: Option<f64>,
    /// Whether more events are still to be read.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_partial: bool,
}

/// The parts of a line that count.
#[derive(Deserialize)]
struct Counted<'l> {
    #[serde(rename = "type", borrow, default)]
    kind: Option<std::borrow::Cow<'l, str>>,
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
        let Some(report) = counted.report else {
            return;
        };
        if counted.kind.as_deref() != Some("reported") {
            return;
        }

        match report.kind.as_str() {
            "chat" => self.add_call(&report),
            "thought" => self.thoughts += 1,
            _ => {}
        }
    }

    fn add_call(&mut self, report: &Report) {
        self.calls += 1;
        if let Some(usage) = &report.usage {
            self.input = self.input.saturating_add(usage.input);
            self.output = self.output.saturating_add(usage.output);
        }
        if let Some(cost) = report.cost.filter(|cost| cost.is_finite()) {
            self.cost = Some(self.cost.unwrap_or_default() + cost);
        }
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
