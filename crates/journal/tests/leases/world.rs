//! The world of all simulated processes: the database, the network, and the oracle that checks them.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use fastrand::Rng;
use tokio::time::Instant;

use crate::model::{Guard, Limits, Line, Model, Row, Status, Time};
use crate::mutex::lock;
use crate::process::Change;
use crate::protocol::Held;

/// The size of a simulation.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scale {
    pub(crate) workers: usize,
    pub(crate) runs: usize,
    pub(crate) steps: usize,
    pub(crate) limits: Option<Limits>,
}

pub(crate) struct World {
    pub(crate) scale: Scale,
    pub(crate) started: Instant,
    pub(crate) database: Mutex<Model>,
    pub(crate) rng: Mutex<Rng>,
    pub(crate) network: Mutex<Network>,
    pub(crate) seen: Mutex<Seen>,
}

/// The connections to the server.
#[derive(Debug, Default)]
pub(crate) struct Network {
    /// Until then, the server is down.
    pub(crate) down_until: Time,
    /// How often the server was restarted, which closes all connections.
    pub(crate) restarts: u64,
}

/// What happened, and what must not have happened.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) crashes: u64,
    pub(crate) pauses: u64,
    pub(crate) restarts: u64,
    pub(crate) requests: u64,
    pub(crate) lost_messages: u64,
    pub(crate) claims: u64,
    pub(crate) calls: u64,
    /// Calls during which the run was given to somebody else. They are made again.
    pub(crate) late_calls: u64,
    pub(crate) refused_writes: u64,
    /// Writes that were confirmed: the run, the step, and the call.
    confirmed: Vec<(i64, usize, u64)>,
    pub(crate) violations: Vec<String>,
}

impl World {
    pub(crate) fn new(seed: u64, scale: Scale, guard: Guard) -> Arc<Self> {
        let keys = 1..=i64::try_from(scale.runs).unwrap();
        let rows = keys.map(|key| {
            let limit_key = (key % 3 > 0).then(|| format!("key {}", key % 7));
            let queued = Row::queued(0, Time::ZERO);
            (
                key,
                Row {
                    limit_key,
                    ..queued
                },
            )
        });
        let retries = vec![Duration::from_secs(1); 10_000];
        let model = Model::new(rows.collect(), retries, guard);

        Arc::new(Self {
            scale,
            started: Instant::now(),
            database: Mutex::new(model),
            rng: Mutex::new(Rng::with_seed(seed)),
            network: Mutex::default(),
            seen: Mutex::default(),
        })
    }

    /// Returns the time of the database.
    pub(crate) fn now(&self) -> Time {
        self.started.elapsed()
    }

    pub(crate) fn random(&self) -> f64 {
        lock(&self.rng).f64()
    }

    /// Returns whether something happens that has this probability.
    pub(crate) fn happens(&self, probability: f64) -> bool {
        self.random() < probability
    }

    /// Returns a random duration of up to this many seconds.
    pub(crate) fn within(&self, seconds: f64) -> Duration {
        Duration::from_secs_f64(self.random() * seconds)
    }

    pub(crate) fn count(&self, what: impl FnOnce(&mut Seen)) {
        what(&mut lock(&self.seen));
    }

    pub(crate) fn violated(&self, what: String) {
        let at = self.now();
        lock(&self.seen)
            .violations
            .push(format!("{at:.1?}: {what}"));
    }

    /// Returns the number of a new call.
    pub(crate) fn begin_call(&self) -> u64 {
        let mut seen = lock(&self.seen);
        seen.calls += 1;
        seen.calls
    }

    /// Counts a call during which the run was given to somebody else.
    pub(crate) fn end_call(&self, held: Held) {
        let fence = lock(&self.database).row(held.key).fence;
        lock(&self.seen).late_calls += u64::from(fence != held.fence);
    }

    /// Checks a change that was written.
    pub(crate) fn check_write(&self, model: &Model, change: &Change) {
        let Change { held, line, .. } = *change;
        let row = model.row(held.key);
        let key = held.key;

        if row.fence != held.fence {
            self.violated(format!(
                "run {key}: lease {} wrote step {} after lease {} was given out",
                held.fence, line.step, row.fence
            ));
        }
        let same = row.record().filter(|other| other.step == line.step);
        if same.count() > 1 {
            self.violated(format!("run {key}: step {} is on record twice", line.step));
        }
        if row.lines.len() != change.after() {
            self.violated(format!("run {key}: step {} is out of place", line.step));
        }
    }

    pub(crate) fn check_limits(&self, model: &Model, limits: Limits) {
        if let Some(exceeded) = model.exceeded(limits) {
            self.violated(exceeded);
        }
    }

    /// Remembers a write that a worker relies on.
    pub(crate) fn confirm(&self, key: i64, line: Line) {
        let confirmed = (key, line.step, line.call);
        lock(&self.seen).confirmed.push(confirmed);
    }

    /// Returns whether all runs have ended, or something happened that must not happen.
    pub(crate) fn is_over(&self) -> bool {
        if !lock(&self.seen).violations.is_empty() {
            return true;
        }

        let model = lock(&self.database);
        model.rows().values().all(|row| row.status == Status::Ended)
    }

    /// Compares the record with what the workers were told.
    pub(crate) fn check_record(&self) {
        if !lock(&self.seen).violations.is_empty() {
            return;
        }

        for (key, row) in lock(&self.database).rows() {
            let steps: Vec<_> = row.record().map(|line| line.step).collect();
            let expected: Vec<_> = (0..self.scale.steps).collect();
            if steps != expected {
                self.violated(format!("run {key}: the steps on record are {steps:?}"));
            }
            if !row.record().is_sorted_by_key(|line| line.fence) {
                self.violated(format!(
                    "run {key}: the writers took turns: {:?}",
                    row.lines
                ));
            }
        }

        for (key, step, call) in lock(&self.seen).confirmed.clone() {
            let model = lock(&self.database);
            let found = model.row(key).record().find(|line| line.step == step);
            if found.is_none_or(|line| line.call != call) {
                drop(model);
                self.violated(format!("run {key}: step {step} was confirmed and lost"));
            }
        }
    }
}
