//! What runs cost, added up from their records.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use super::place::RecordFile;
use super::tail::{Line, Tail};

/// How many runs are remembered.
const REMEMBERED: usize = 2_000;

/// How much of one record is read for a list. The next list continues there.
const READ_AT_ONCE: u64 = 8 << 20;

/// The calls of a run, as far as its record was read.
#[derive(Debug, Clone, Default, Serialize)]
pub(crate) struct Totals {
    pub(crate) calls: u64,
    pub(crate) thoughts: u64,
    pub(crate) input: u64,
    pub(crate) output: u64,
    /// In the currency of the price table; `None` if no call has a price.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cost: Option<f64>,
    /// Whether more of the record is still to be read.
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

/// The totals of runs, each with the place up to which its record was read.
#[derive(Debug, Default)]
pub(crate) struct TotalsCache(Mutex<HashMap<String, Counting>>);

#[derive(Debug)]
struct Counting {
    tail: Tail,
    totals: Totals,
}

impl TotalsCache {
    /// Returns the totals of a run, after reading what is new in its record. `None` if it has no
    /// record, or one that cannot be read. This blocks.
    pub(crate) fn update(&self, run_id: &str, file: &RecordFile) -> Option<Totals> {
        if !file.exists() {
            return None;
        }

        let counting = self.take(run_id);
        let mut counting = counting.unwrap_or_else(|| Counting::new(file.clone()));
        if counting.read().is_err() {
            // The record was replaced, so it is counted anew.
            counting = Counting::new(file.clone());
            counting.read().ok()?;
        }

        let totals = counting.totals.clone();
        self.keep(run_id, counting);
        Some(totals)
    }

    fn take(&self, run_id: &str) -> Option<Counting> {
        let mut runs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        runs.remove(run_id)
    }

    fn keep(&self, run_id: &str, counting: Counting) {
        let mut runs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if runs.len() >= REMEMBERED {
            runs.clear();
        }
        runs.insert(run_id.to_owned(), counting.closed());
    }
}

impl Counting {
    fn new(file: RecordFile) -> Self {
        Self {
            tail: Tail::new(file, 0),
            totals: Totals::default(),
        }
    }

    fn read(&mut self) -> Result<(), super::TailError> {
        let start = self.tail.at();
        loop {
            let batch = self.tail.read()?;
            for line in batch.lines {
                if let Line::Json { text, .. } = line {
                    self.totals.add(&text);
                }
            }

            let read = self.tail.at().saturating_sub(start);
            self.totals.is_partial = !batch.is_end;
            if batch.is_end || read >= READ_AT_ONCE {
                return Ok(());
            }
        }
    }

    /// Closes the file until it is read again.
    fn closed(self) -> Self {
        Self {
            tail: self.tail.closed(),
            ..self
        }
    }
}
