//! The calls that would cost money, counted outside of all stores.

use std::fs::OpenOptions;
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use cogwork_flow::idempotency_key;
use serde::{Deserialize, Serialize};

/// Writes down each call before anything else happens.
#[derive(Clone)]
pub(crate) struct Witness(PathBuf);

/// The input of a call.
#[derive(Clone)]
pub(crate) struct Call {
    pub(crate) number: u64,
    /// The outcome that was used last, which has to be on record by now.
    pub(crate) after: Option<u64>,
}

/// The outcome of a call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Made {
    pub(crate) key: String,
    /// A different number each time that the call is made.
    pub(crate) made: u64,
    pub(crate) number: u64,
}

/// A line of the witness.
pub(crate) struct Begun {
    pub(crate) run: String,
    pub(crate) step: String,
    pub(crate) made: u64,
    pub(crate) after: Option<u64>,
}

impl Witness {
    pub(crate) fn within(folder: &Path) -> Self {
        Self(folder.join("calls.txt"))
    }

    pub(crate) async fn make(self, call: Call) -> io::Result<Made> {
        let key = idempotency_key().unwrap_or_default();
        let made = random();

        // A kill can truncate a line, so each one starts with a line break and is only complete with
        // its `;`.
        let after = call.after.unwrap_or_default();
        let line = format!("\n{key} {made} {after};");
        let mut calls = OpenOptions::new().append(true).create(true).open(self.0)?;
        calls.write_all(line.as_bytes())?;

        tokio::time::sleep(Duration::from_micros(random() % 15_000)).await;
        let number = call
            .number
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        Ok(Made { key, made, number })
    }

    /// Returns all calls, in the order in which they began.
    pub(crate) fn calls(&self) -> io::Result<Vec<Begun>> {
        let text = std::fs::read_to_string(&self.0)?;
        let lines = text.split('\n');
        Ok(lines.filter_map(Begun::read).collect())
    }
}

impl Begun {
    fn read(line: &str) -> Option<Self> {
        let mut words = line.strip_suffix(';')?.split(' ');
        let (run, step) = words.next()?.split_once(':')?;
        let made = words.next()?.parse().ok()?;
        let after = words.next()?.parse().ok()?;
        Some(Self {
            run: run.to_owned(),
            step: step.to_owned(),
            made,
            after: Some(after).filter(|after| *after != 0),
        })
    }
}

impl Made {
    /// Returns a call that follows from this one.
    pub(crate) fn followed_by(&self, index: u64) -> Call {
        Call {
            number: self.number.wrapping_add(index),
            after: Some(self.made),
        }
    }

    pub(crate) fn step(&self) -> &str {
        self.key.split_once(':').map_or("", |(_, step)| step)
    }

    /// Finds the outcome of this step in what a store has recorded of it. What was recorded of a step
    /// that only consists of calls contains those of other steps.
    pub(crate) fn find(step: &str, recorded: &str) -> Option<Self> {
        let begins = recorded.find("{\"key\":")?;
        let outcome = recorded.get(begins..)?;
        let mut outcomes = serde_json::Deserializer::from_str(outcome).into_iter::<Self>();
        let made = outcomes.next()?.ok()?;
        (made.step() == step).then_some(made)
    }
}

/// Returns a random number, taken from the seed of a hash map.
pub(crate) fn random() -> u64 {
    RandomState::new().hash_one(0)
}
