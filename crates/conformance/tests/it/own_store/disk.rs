//! The disk of the store: lines of JSON for each run, which outlive the processes.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use cogwork_conformance::{Refusal, RefusalKind, State};
use cogwork_flow::Shape;
use cogwork_flow::journal::Entry;
use serde::{Deserialize, Serialize};

use super::Mutant;

/// The maximum length of a line in bytes.
pub(crate) const MAX_LINE: usize = 60_000;

#[derive(Clone, Default)]
pub(crate) struct Disk(Arc<Mutex<Content>>);

#[derive(Default)]
pub(crate) struct Content {
    pub(crate) runs: BTreeMap<String, RunOnDisk>,
    pub(crate) is_broken: bool,
}

#[derive(Default)]
pub(crate) struct RunOnDisk {
    pub(crate) lines: Vec<u8>,
    /// The number of the process that opened the run last.
    pub(crate) fence: u64,
    pub(crate) is_in_use: bool,
}

#[derive(Serialize, Deserialize)]
pub(crate) struct Header {
    pub(crate) run_id: String,
    pub(crate) flow: String,
    pub(crate) shape: Shape,
    pub(crate) input: State,
}

/// A record that was read.
pub(crate) struct Record {
    pub(crate) header: Header,
    pub(crate) entries: Vec<Entry>,
}

impl Disk {
    pub(crate) fn content(&self) -> MutexGuard<'_, Content> {
        self.0.lock().unwrap()
    }
}

impl RunOnDisk {
    pub(crate) fn append(&mut self, value: &impl Serialize) {
        self.lines.extend(serde_json::to_vec(value).unwrap());
        self.lines.push(b'\n');
    }

    /// Reads the lines, without the last one if it isn't complete.
    pub(crate) fn read(&self, mutant: Option<Mutant>) -> Result<Record, Refusal> {
        let lines = self.lines.split_inclusive(|byte| *byte == b'\n');
        let mut lines: Vec<_> = lines.filter(|line| line.ends_with(b"\n")).collect();
        if mutant == Some(Mutant::ReturnsLinesOutOfOrder) && lines.len() > 2 {
            lines[1..].reverse();
        }

        let damaged = |error| Refusal::new(RefusalKind::Damaged, error);
        let header = lines.first().copied().unwrap_or_default();
        let mut record = Record {
            header: serde_json::from_slice(header).map_err(damaged)?,
            entries: Vec::new(),
        };
        for line in lines.iter().skip(1) {
            record
                .entries
                .push(serde_json::from_slice(line).map_err(damaged)?);
        }

        if mutant == Some(Mutant::RoundsTheInput) {
            for number in &mut record.header.input {
                *number = *number as f64 as u64;
            }
        }
        if mutant == Some(Mutant::ForgetsLimits) {
            let is_wait = |entry: &Entry| matches!(entry, Entry::Waiting { .. });
            record.entries.retain(|entry| !is_wait(entry));
        }
        Ok(record)
    }
}
