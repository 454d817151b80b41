//! A flow with a step, a wait and a batch, which counts its calls.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use cogwork_flow::{Action, Batch, Flow, Wait, from_exec, from_phases, idempotency_key};

/// The idempotency keys of all calls.
#[derive(Clone, Default)]
pub(crate) struct Calls(Arc<Mutex<Vec<String>>>);

impl Calls {
    pub(crate) fn made(&self) -> Vec<String> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Returns how often the call with this key was made.
    pub(crate) fn times(&self, key: &str) -> usize {
        self.made().iter().filter(|made| *made == key).count()
    }

    fn add(&self) {
        let key = idempotency_key().unwrap_or_default();
        let mut made = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        made.push(key);
    }
}

pub(crate) type State = Vec<u64>;

/// Doubles the first number, waits for the event `go`, then adds `plus` to each.
pub(crate) fn flow(calls: &Calls, time: Duration, plus: u64) -> Flow<State> {
    let (first, each) = (calls.clone(), calls.clone());
    let double = from_phases(
        |all: &mut State| all[0],
        move |n| {
            first.add();
            async move {
                tokio::time::sleep(time).await;
                Ok::<_, std::io::Error>(2 * n)
            }
        },
        |all, doubled| all[0] = doubled,
    );
    let add = from_exec(move |n: u64| {
        each.add();
        async move {
            tokio::time::sleep(time).await;
            Ok::<_, std::io::Error>(n + plus)
        }
    });
    let batch = Batch::at_most(2, add, State::clone, |all: &mut State, items| *all = items);

    Flow::builder("counted")
        .start("double")
        .node("double", double)
        .wait("wait", Wait::for_event("go", |_: &mut State, _: bool| ()))
        .batch("add", batch)
        .edge("double", Action::DEFAULT, "wait")
        .edge("wait", Action::DEFAULT, "add")
        .end("add", Action::DEFAULT)
        .build()
        .unwrap()
}
