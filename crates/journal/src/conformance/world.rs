//! What is outside of all processes: it sees each call, and can stop the process at one of them.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cogwork_flow::idempotency_key;
use tokio::sync::watch;

/// The calls that the nodes of one run make.
#[derive(Clone, Debug)]
pub(super) struct World(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    /// The beginning of the idempotency keys.
    prefix: String,
    seen: Mutex<Seen>,
    halted: watch::Sender<bool>,
}

#[derive(Debug, Default)]
struct Seen {
    calls: Vec<String>,
    used: BTreeSet<String>,
    halts: Halts,
}

/// At which calls a process halts.
#[derive(Debug, Default)]
pub(super) enum Halts {
    #[default]
    Never,
    /// At the call with this number, counted from 1 over all processes.
    At(usize),
    /// At each call that is made for the first time.
    AtNew,
}

/// What had happened when a process ended.
#[derive(Debug, Clone)]
pub(super) struct Moment {
    /// The number of calls.
    pub(super) calls: usize,
    /// The steps whose outcome had been used, so that it has to be on record.
    pub(super) used: BTreeSet<String>,
}

impl World {
    pub(super) fn of(run_id: &str) -> Self {
        Self(Arc::new(Inner {
            prefix: format!("{run_id}:"),
            seen: Mutex::default(),
            halted: watch::Sender::new(false),
        }))
    }

    pub(super) fn halt(&self, halts: Halts) {
        self.seen().halts = halts;
    }

    /// Lets the process continue, or the next one begin.
    pub(super) fn release(&self) {
        // Unlike `send`, this also works while nobody waits.
        self.0.halted.send_replace(false);
    }

    /// Waits until the process halts at a call.
    pub(super) async fn halted(&self) {
        let mut halted = self.0.halted.subscribe();

        // The sender lives as long as `self`.
        let _ = halted.wait_for(|halted| *halted).await;
    }

    /// Makes a call, for the step that runs. Returns the name of the step, and of the item or the call
    /// inside of it.
    pub(super) async fn call(&self) -> String {
        let step = self.enter();
        // A process that halts is dropped here, so this outcome isn't recorded.
        let mut halted = self.0.halted.subscribe();
        let _ = halted.wait_for(|halted| !*halted).await;
        // Lets the other calls begin that are made at the same time.
        tokio::task::yield_now().await;

        step
    }

    fn enter(&self) -> String {
        let key = idempotency_key().unwrap_or_default();
        let step = key.strip_prefix(&self.0.prefix).unwrap_or(&key).to_owned();
        let mut seen = self.seen();
        let is_new = !seen.calls.contains(&step);

        seen.calls.push(step.clone());
        let halts = match seen.halts {
            Halts::Never => false,
            Halts::At(number) => seen.calls.len() == number,
            Halts::AtNew => is_new,
        };
        if halts {
            self.0.halted.send_replace(true);
        }

        step
    }

    /// Reports that a step used its outcome.
    pub(super) fn uses(&self, step: &str) {
        self.seen().used.insert(step.to_owned());
    }

    pub(super) fn calls(&self) -> Vec<String> {
        self.seen().calls.clone()
    }

    pub(super) fn now(&self) -> Moment {
        let seen = self.seen();
        Moment {
            calls: seen.calls.len(),
            used: seen.used.clone(),
        }
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.0.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
