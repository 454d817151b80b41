//! The decisions of the database, as pure functions of its rows and its clock. The statements of
//! PostgreSQL make the same ones; see the tests in `statements`.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::protocol::{Held, Verdict, Written};

/// The time of the database.
pub(crate) type Time = Duration;

/// What protects the record and the limits. The mutants leave out a part.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Guard {
    /// Whether only the last holder of a run can append.
    pub(crate) fence: bool,
    /// Whether a change is refused if another one has been made since the writer saw the run.
    pub(crate) version: bool,
    /// Whether there is only one line with each number.
    pub(crate) numbers: bool,
    /// Whether a run counts as running until its lease is taken away, and not only until it expires.
    pub(crate) expired: bool,
}

impl Guard {
    pub(crate) const FULL: Self = Self {
        fence: true,
        version: true,
        numbers: true,
        expired: true,
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

/// The limits of the queue.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    pub(crate) running: Option<usize>,
    pub(crate) per_key: Option<usize>,
}

/// What the holder of a run knows of its row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RowState {
    /// How often the run was changed other than by appending lines.
    pub(crate) version: i64,
    pub(crate) has_failures: bool,
}

#[derive(Debug, Clone)]
pub(crate) struct Row {
    pub(crate) is_queued: bool,
    pub(crate) priority: i32,
    pub(crate) limit_key: Option<String>,
    pub(crate) status: Status,
    pub(crate) answers: i64,
    pub(crate) fence: i64,
    pub(crate) worker: Option<String>,
    pub(crate) wake: Option<Time>,
    pub(crate) ready: bool,
    pub(crate) failures: usize,
    pub(crate) is_set_aside: bool,
    pub(crate) version: i64,
    /// How many lines there are at least.
    pub(crate) known: usize,
    pub(crate) lines: Vec<Line>,
    /// The lines that were replaced when the record was folded.
    pub(crate) folded: Vec<Line>,
}

/// A run that was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Claimed {
    pub(crate) held: Held,
    pub(crate) row: RowState,
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
            limit_key: None,
            status: Status::Open,
            answers: 0,
            fence: 1,
            worker: None,
            wake: Some(now),
            ready: true,
            failures: 0,
            is_set_aside: false,
            version: 0,
            known: 0,
            lines: Vec::new(),
            folded: Vec::new(),
        }
    }

    /// Returns all steps on record, also those that were folded.
    pub(crate) fn record(&self) -> impl Iterator<Item = &Line> {
        self.folded.iter().chain(&self.lines)
    }

    fn give_to(&mut self, key: i64, taker: Taker<'_>, now: Time) -> Claimed {
        self.fence += 1;
        self.worker = Some(taker.worker.to_owned());
        self.ready = false;
        self.wake = Some(now + taker.lease);

        let fence = self.fence;
        Claimed {
            held: Held { key, fence },
            row: RowState {
                version: self.version,
                has_failures: self.failures > 0,
            },
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
        self.known = self.lines.len();
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
        self.known = self.lines.len();
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

    /// Takes runs that are ready, as many as the limits allow.
    pub(crate) fn claim_limited(
        &mut self,
        taker: Taker<'_>,
        most: usize,
        limits: Limits,
        now: Time,
    ) -> Vec<Claimed> {
        let mut running = self.running(now);
        let all: usize = running.values().sum();
        let room = limits.running.map(|most| most.saturating_sub(all));
        let most = most.min(room.unwrap_or(usize::MAX));

        let mut chosen = Vec::new();
        for (_, key) in &self.ready {
            let limit_key = self.row(*key).limit_key.clone();
            let is_limited = limit_key.is_some();
            let of_key = running.entry(limit_key).or_default();
            *of_key += 1;
            if !is_limited || limits.per_key.is_none_or(|most| *of_key <= most) {
                chosen.push(*key);
            }
        }

        chosen.truncate(most);
        let taken = chosen
            .into_iter()
            .map(|key| self.change(key, |row| row.give_to(key, taker, now)));
        taken.collect()
    }

    /// Returns how many runs somebody works on, for each key.
    fn running(&self, now: Time) -> BTreeMap<Option<String>, usize> {
        let mut running = BTreeMap::new();
        for row in self.rows.values() {
            let counts = self.guard.expired || row.wake.is_some_and(|wake| wake > now);
            if row.worker.is_some() && counts {
                *running.entry(row.limit_key.clone()).or_default() += 1;
            }
        }
        running
    }

    /// Returns why the limits are exceeded, if they are.
    pub(crate) fn exceeded(&self, limits: Limits) -> Option<String> {
        let at_work = self.rows.values().filter(|row| row.worker.is_some());
        let keys: Vec<_> = at_work.map(|row| &row.limit_key).collect();
        if limits.running.is_some_and(|most| keys.len() > most) {
            return Some(format!("{} runs are running", keys.len()));
        }

        let of_key = |key: &Option<String>| keys.iter().filter(|other| **other == key).count();
        let mut limited = keys.iter().filter(|key| key.is_some());
        let most = limits.per_key?;
        let key = limited.find(|key| of_key(key) > most)?;
        Some(format!(
            "{} runs of the key {key:?} are running",
            of_key(key)
        ))
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

    fn is_refused(&self, held: Held, version: i64) -> bool {
        let row = self.row(held.key);
        let is_fenced_off = self.guard.fence && !row.is_held(held);
        let is_old = self.guard.version && row.version != version;
        is_fenced_off || is_old
    }

    /// Appends a line to as many as the writer has seen. If there are fewer, the line is out of
    /// place.
    pub(crate) fn append(
        &mut self,
        held: Held,
        version: i64,
        before: usize,
        line: Line,
    ) -> Written {
        let is_there = self.guard.numbers && self.row(held.key).lines.len() > before;
        if is_there || self.is_refused(held, version) {
            return Written::Refused;
        }

        self.change(held.key, |row| row.lines.push(line));
        Written::Yes
    }

    /// Makes any other change.
    pub(crate) fn edit(
        &mut self,
        held: Held,
        version: i64,
        edit: impl FnOnce(&mut Row),
    ) -> Written {
        if self.is_refused(held, version) {
            return Written::Refused;
        }

        self.change(held.key, |row| {
            edit(row);
            row.version += 1;
            row.known = row.lines.len();
            row.failures = 0;
        });
        Written::Yes
    }

    /// Returns whether a run is as a change left it.
    pub(crate) fn is_written(&self, held: Held, version: i64, after: usize) -> bool {
        let row = self.row(held.key);
        row.is_held(held) && row.version == version && row.lines.len() >= after
    }
}
