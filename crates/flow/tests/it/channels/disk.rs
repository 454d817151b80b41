//! Journals that lose what wasn't written at a crash.

use std::sync::{Arc, Mutex};

use cogwork_flow::BoxError;
use cogwork_flow::journal::{Entry, Log, Recorded};

/// The entries of a run that survive a crash.
#[derive(Clone, Default)]
pub(super) struct Disk(Arc<Mutex<Vec<Entry>>>);

impl Disk {
    pub(super) fn journal(&self, run_id: &str) -> Recorded<Unwritten> {
        let entries = self.entries();
        let unwritten = Unwritten {
            disk: self.clone(),
            queue: Mutex::default(),
        };

        Recorded::over(run_id, entries, unwritten).unwrap()
    }

    pub(super) fn entries(&self) -> Vec<Entry> {
        self.0.lock().unwrap().clone()
    }
}

/// The entries that weren't written yet.
pub(super) struct Unwritten {
    disk: Disk,
    queue: Mutex<Queue>,
}

#[derive(Default)]
struct Queue {
    changes: Vec<Change>,
    written: u64,
}

enum Change {
    Append(Entry),
    Replace(Vec<Entry>),
}

impl Unwritten {
    fn queue(&self, change: Change) -> u64 {
        let mut queue = self.queue.lock().unwrap();
        queue.changes.push(change);
        queue.written + queue.changes.len() as u64
    }
}

#[async_trait::async_trait]
impl Log for Unwritten {
    fn push(&self, entry: Entry) -> u64 {
        self.queue(Change::Append(entry))
    }

    fn replace(&self, entries: Vec<Entry>) -> u64 {
        self.queue(Change::Replace(entries))
    }

    async fn written(&self, number: u64) -> Result<(), BoxError> {
        tokio::task::yield_now().await;

        let mut queue = self.queue.lock().unwrap();
        let mut lines = self.disk.0.lock().unwrap();
        while queue.written < number {
            match queue.changes.remove(0) {
                Change::Append(entry) => lines.push(entry),
                Change::Replace(entries) => *lines = entries,
            }
            queue.written += 1;
        }

        Ok(())
    }
}
