//! The world outside of all processes, which sees each call and its outcome.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};

use cogwork_flow::idempotency_key;

#[derive(Clone, Default)]
pub(crate) struct World(Arc<Mutex<Vec<Happened>>>);

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Happened {
    /// A node made the call of this key.
    Called(String),
    /// The engine has an attempt at it on record, good or bad.
    Recorded(String),
    /// The engine has its outcome on record; it is not to be made again.
    Settled(String),
    /// The engine lost an attempt that was in flight.
    Lost(String),
    /// A service failed the first call of this key.
    Broke(String),
}

impl World {
    /// A node calls. Answers how often the same call was made before.
    pub(crate) fn call(&self) -> usize {
        let called = Happened::Called(idempotency_key().unwrap_or_default());
        let mut log = self.log();
        log.push(called.clone());

        log.iter().filter(|happened| **happened == called).count() - 1
    }

    /// Answers whether the service of the current call fails, which it does once for each key.
    pub(crate) fn breaks(&self) -> bool {
        let broke = Happened::Broke(idempotency_key().unwrap_or_default());
        let mut log = self.log();
        let is_first = !log.contains(&broke);
        log.push(broke);
        is_first
    }

    pub(crate) fn tell(&self, happened: Happened) {
        self.log().push(happened);
    }

    pub(crate) fn len(&self) -> usize {
        self.log().len()
    }

    /// Calls by key.
    pub(crate) fn calls(&self) -> HashMap<String, usize> {
        self.count(|happened| match happened {
            Happened::Called(key) => Some(key),
            _ => None,
        })
    }

    pub(crate) fn recorded(&self) -> HashMap<String, usize> {
        self.count(|happened| match happened {
            Happened::Recorded(key) => Some(key),
            _ => None,
        })
    }

    pub(crate) fn lost(&self) -> HashMap<String, usize> {
        self.count(|happened| match happened {
            Happened::Lost(key) => Some(key),
            _ => None,
        })
    }

    /// Calls that were made although their outcome was on record.
    pub(crate) fn made_twice(&self) -> Vec<String> {
        let log = self.log();
        let settled_before = |at: usize, key: &String| {
            log[..at]
                .iter()
                .any(|happened| matches!(happened, Happened::Settled(settled) if settled == key))
        };

        let calls = log
            .iter()
            .enumerate()
            .filter_map(|(at, happened)| match happened {
                Happened::Called(key) if settled_before(at, key) => Some(key.clone()),
                _ => None,
            });

        calls.collect()
    }

    /// Calls of any kind since then.
    pub(crate) fn calls_since(&self, len: usize) -> usize {
        self.log()[len..]
            .iter()
            .filter(|happened| matches!(happened, Happened::Called(_)))
            .count()
    }

    fn count(&self, key: impl Fn(&Happened) -> Option<&String>) -> HashMap<String, usize> {
        let mut counts = HashMap::new();
        for key in self.log().iter().filter_map(key) {
            *counts.entry(key.clone()).or_default() += 1;
        }

        counts
    }

    fn log(&self) -> MutexGuard<'_, Vec<Happened>> {
        self.0
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}
