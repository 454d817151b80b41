//! A durable engine as a test double: it knows the calls of a run by their position, and replays
//! the run from its start whenever an attempt at it ends early.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use cogwork_flow::engine::Json;
use tokio::time::Instant;

use super::world::World;

pub(crate) type State = Vec<u64>;

/// What outlives every attempt.
pub(crate) struct Engine {
    pub(crate) world: World,
    pub(crate) style: Style,
    pub(crate) journal: Mutex<Vec<Entry>>,
    pub(crate) answers: Mutex<HashMap<String, VecDeque<Json>>>,
    random: Mutex<Random>,
    crashes_left: AtomicUsize,
}

/// What an engine is free to do either way.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Style {
    /// A wait ends the attempt, and does not answer that it is pending.
    pub(crate) suspends: bool,
}

#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) name: String,
    pub(crate) call: Call,
}

#[derive(Debug)]
pub(crate) enum Call {
    Step(Option<Done>),
    Sleep {
        until: Instant,
    },
    Wait {
        until: Option<Instant>,
        resolved: Option<Resolved>,
    },
}

#[derive(Debug, Clone)]
pub(crate) enum Done {
    Outcome(Json),
    Failed(u32, String),
}

#[derive(Debug, Clone)]
pub(crate) enum Resolved {
    Answer(Json),
    Refused,
    TimedOut,
}

impl Engine {
    pub(crate) fn new(world: World, style: Style, seed: u64, crashes: usize) -> Self {
        Self {
            world,
            style,
            journal: Mutex::default(),
            answers: Mutex::default(),
            random: Mutex::new(Random(seed)),
            crashes_left: AtomicUsize::new(crashes),
        }
    }

    pub(crate) fn deliver(&self, event: &str, answer: Json) {
        locked(&self.answers)
            .entry(event.to_owned())
            .or_default()
            .push_back(answer);
    }

    /// Calls on record.
    pub(crate) fn len(&self) -> usize {
        locked(&self.journal).len()
    }

    pub(crate) fn random(&self, below: u64) -> u64 {
        locked(&self.random).below(below)
    }

    /// Whether the attempt ends here.
    pub(crate) fn crashes(&self, one_in: u64) -> bool {
        let crashes = self.crashes_left.load(Ordering::Relaxed) > 0 && self.random(one_in) == 0;
        if crashes {
            self.crashes_left.fetch_sub(1, Ordering::Relaxed);
        }

        crashes
    }

    pub(crate) fn crash_no_more(&self) {
        self.crashes_left.store(0, Ordering::Relaxed);
    }

    pub(crate) fn with<T>(&self, position: usize, ask: impl FnOnce(&mut Call) -> T) -> T {
        ask(&mut locked(&self.journal)[position].call)
    }

    /// How the work of a step ended, if it is on record.
    pub(crate) fn done<T>(&self, position: usize, ask: impl FnOnce(&mut Option<Done>) -> T) -> T {
        self.with(position, |call| match call {
            Call::Step(done) => ask(done),
            _ => unreachable!("only steps have work"),
        })
    }
}

impl Call {
    /// The same kind of call.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        matches!(
            (self, other),
            (Self::Step(_), Self::Step(_))
                | (Self::Sleep { .. }, Self::Sleep { .. })
                | (Self::Wait { .. }, Self::Wait { .. })
        )
    }
}

/// SplitMix64: the same numbers for the same seed.
struct Random(u64);

impl Random {
    fn below(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);

        (mixed ^ (mixed >> 31)) % below
    }
}

pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
