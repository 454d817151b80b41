//! The decisions of the database, as pure functions of its rows and its clock. The statements of
//! PostgreSQL make the same ones; see the tests in `statements`.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::protocol::{Held, Verdict, Written};

/// The time of the database.
pub(crate) type Time = Duration;

/// What protects the record. The mutants leave out a part.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Guard {
    /// Whether only the last holder of a run can append.
    pub(crate) fence: bool,
    /// Whether lines are only appended to those that the writer has seen.
    pub(crate) lines: bool,
}

impl Guard {
    pub(crate) const FULL: Self = Self {
        fence: true,
        lines: true,
    };
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Status {
    Open,
    /// It waits, until then at most.
    Paused(Option<Time>),
    Failed,
    Ended,
}

/// A recorded step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) step: usize,
    /// Identifies the call whose outcome this is.
    pub(crate) call: u64,
    /// The fence of whoever wrote it.
    pub(crate) fence: i64,
}

#[cfg(feature = "postgres")]
impl Line {
    pub(crate) const FIRST: Self = Self {
        step: 0,
        call: 0,
        fence: 1,
    };
}

#[derive(Debug, Clone)]
pub(crate) struct Row {
    pub(crate) is_queued: bool,
    pub(crate) priority: i32,
    pub(crate) status: Status,
    pub(crate) answers: i64,
    pub(crate) fence: i64,
    pub(crate) worker: Option<String>,
    pub(crate) wake: Option<Time>,
    pub(crate) ready: bool,
    pub(crate) failures: usize,
    pub(crate) is_set_aside: bool,
    pub(crate) lines: Vec<Line>,
}

/// A run that was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Claimed {
    pub(crate) held: Held,
    pub(crate) lines: usize,
}

/// Who takes runs, and for how long.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Taker<'a> {
    pub(crate) worker: &'a str,
    pub(crate) lease: Duration,
}

#[derive(Debug)]
pub(crate) struct Model {
    rows: BTreeMap<i64, Row>,
    /// The rows that aren't ready and have a time to wake.
    sleeping: BTreeSet<(Time, i64)>,
    /// The rows that are ready, those with the highest priority first.
    ready: BTreeSet<(i32, i64)>,
    /// The delays after each failure but the last.
    pub(crate) retries: Vec<Duration>,
    pub(crate) guard: Guard,
}

impl Row {
    /// A run in a queue, which can be taken immediately.
    pub(crate) fn queued(priority: i32, now: Time) -> Self {
        Self {
            is_queued: true,
            priority,
            status: Status::Open,
            answers: 0,
            fence: 1,
            worker: None,
            wake: Some(now),
            ready: true,
            failures: 0,
            is_set_aside: false,
            lines: Vec::new(),
        }
    }

    fn give_to(&mut self, key: i64, taker: Taker<'_>, now: Time) -> Claimed {
        self.fence += 1;
        self.worker = Some(taker.worker.to_owned());
        self.ready = false;
        self.wake = Some(now + taker.lease);

        let fence = self.fence;
        Claimed {
            held: Held { key, fence },
            lines: self.lines.len(),
        }
    }

    fn is_held(&self, held: Held) -> bool {
        self.worker.is_some() && self.fence == held.fence
    }

    fn wake(&mut self, retries: usize) {
        let died = self.worker.is_some();
        let is_spent = died && self.failures >= retries;

        self.is_set_aside = self.is_queued && (self.is_set_aside || is_spent);
        self.fence += i64::from(died);
        self.failures += usize::from(died);
        self.worker = None;
        self.ready = self.is_queued && !self.is_set_aside;
        self.wake = None;
    }

    /// Returns when the run is to continue after it was given back.
    fn continues(&self, verdict: &Verdict, retries: &[Duration], now: Time) -> Option<Time> {
        if !self.is_queued || self.status == Status::Ended {
            return None;
        }
        if self.failed(verdict) {
            return retries.get(self.failures).map(|delay| now + *delay);
        }
        if verdict.is_interrupted() || self.answers > 0 {
            return Some(now);
        }

        match self.status {
            Status::Open => Some(now),
            Status::Paused(until) => until,
            Status::Failed | Status::Ended => None,
        }
    }

    fn failed(&self, verdict: &Verdict) -> bool {
        let is_failure = verdict.failure().is_some() || self.status == Status::Failed;
        !verdict.is_interrupted() && is_failure
    }

    fn give_back(&mut self, verdict: &Verdict, retries: &[Duration], now: Time) {
        let failed = self.failed(verdict);
        let continues = self.continues(verdict, retries, now);
        let is_spent = failed && self.failures >= retries.len();

        self.is_set_aside = self.is_queued && (self.is_set_aside || is_spent);
        self.failures += usize::from(failed);
        self.worker = None;
        self.ready = !self.is_set_aside && continues.is_some_and(|time| time <= now);
        self.wake = continues.filter(|_| !self.is_set_aside);
    }
}

impl Model {
    pub(crate) fn new(rows: BTreeMap<i64, Row>, retries: Vec<Duration>, guard: Guard) -> Self {
        let mut model = Self {
            rows,
            sleeping: BTreeSet::new(),
            ready: BTreeSet::new(),
            retries,
            guard,
        };

        let keys: Vec<_> = model.rows.keys().copied().collect();
        for key in keys {
            model.change(key, |_| ());
        }
        model
    }

    pub(crate) fn rows(&self) -> &BTreeMap<i64, Row> {
        &self.rows
    }

    pub(crate) fn row(&self, key: i64) -> &Row {
        &self.rows[&key]
    }

    /// Changes a row, and its place in the indexes.
    pub(crate) fn change<T>(&mut self, key: i64, change: impl FnOnce(&mut Row) -> T) -> T {
        let row = self.rows.get_mut(&key).unwrap();
        if let Some(wake) = row.wake {
            self.sleeping.remove(&(wake, key));
        }
        self.ready.remove(&(-row.priority, key));

        let changed = change(row);

        match row.wake {
            _ if row.ready => {
                self.ready.insert((-row.priority, key));
            }
            Some(wake) => {
                self.sleeping.insert((wake, key));
            }
            None => {}
        }
        changed
    }

    /// Takes one run, unless somebody works on it.
    #[cfg(feature = "postgres")]
    pub(crate) fn take(&mut self, key: i64, taker: Taker<'_>, now: Time) -> Option<Claimed> {
        let row = self.row(key);
        let is_free = row.worker.is_none() || row.wake.is_some_and(|wake| wake <= now);
        is_free.then(|| self.change(key, |row| row.give_to(key, taker, now)))
    }

    /// Takes runs that are ready, those with the highest priority first.
    pub(crate) fn claim(&mut self, taker: Taker<'_>, most: usize, now: Time) -> Vec<Claimed> {
        let ready: Vec<_> = self.ready.iter().take(most).copied().collect();
        let taken = ready
            .into_iter()
            .map(|(_, key)| self.change(key, |row| row.give_to(key, taker, now)));
        taken.collect()
    }

    pub(crate) fn wake_due(&mut self, now: Time) {
        let retries = self.retries.len();
        let due = self.sleeping.range(..=(now, i64::MAX));
        let due: Vec<_> = due.copied().collect();
        for (_, key) in due {
            self.change(key, |row| row.wake(retries));
        }
    }

    /// Returns how many seconds it takes until the next run is due.
    pub(crate) fn next_due(&self, now: Time) -> Option<f64> {
        let (next, _) = self.sleeping.first()?;
        Some(next.as_secs_f64() - now.as_secs_f64())
    }

    /// Renews leases, and returns the keys of those that still exist.
    pub(crate) fn renew(&mut self, leases: &[Held], lease: Duration, now: Time) -> Vec<i64> {
        let renewed = leases
            .iter()
            .filter(|held| self.row(held.key).is_held(**held));
        let renewed: Vec<_> = renewed.map(|held| held.key).collect();
        for key in &renewed {
            self.change(*key, |row| row.wake = Some(now + lease));
        }

        renewed
    }

    pub(crate) fn release(&mut self, held: Held, verdict: &Verdict, now: Time) {
        if !self.row(held.key).is_held(held) {
            return;
        }

        let retries = self.retries.clone();
        self.change(held.key, |row| row.give_back(verdict, &retries, now));
    }

    /// Appends a line to as many as the writer has seen.
    pub(crate) fn append(&mut self, held: Held, before: usize, line: Line) -> Written {
        let row = self.row(held.key);
        let is_fenced_off = self.guard.fence && !row.is_held(held);
        let is_changed = self.guard.lines && row.lines.len() != before;
        if is_fenced_off || is_changed {
            return Written::Refused;
        }

        self.change(held.key, |row| {
            row.lines.push(line);
            row.failures = 0;
        });
        Written::Yes
    }

    /// Returns whether a run is as an append left it.
    pub(crate) fn is_written(&self, held: Held, after: usize) -> bool {
        let row = self.row(held.key);
        row.is_held(held) && row.lines.len() == after
    }
}
