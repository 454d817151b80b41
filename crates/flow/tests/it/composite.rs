//! Nodes whose calls are recorded one by one.

pub(crate) mod crashes;
mod events;
mod failures;
mod places;
mod random;
mod waits;

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use cogwork_flow::engine::{Entry, recorded};
use cogwork_flow::{Action, BoxError, Flow, Node, idempotency_key};

use crate::lines::Lines;

/// The keys of the calls that were made, and of those whose service has failed once.
#[derive(Clone, Default)]
struct Made(Arc<Mutex<Vec<String>>>, Arc<Mutex<HashSet<String>>>);

impl Made {
    fn add(&self) {
        self.0.lock().unwrap().push(idempotency_key().unwrap());
    }

    fn keys(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }

    fn count(&self) -> usize {
        self.0.lock().unwrap().len()
    }
}

/// Makes a call that adds 1 to a number.
async fn add_one(made: &Made, label: &str, n: u64) -> Result<u64, BoxError> {
    let outcome = recorded(label, || async {
        made.add();
        tokio::task::yield_now().await;
        Ok::<_, BoxError>(n + 1)
    });
    Ok(outcome.await?)
}

/// A composite node made of a closure.
struct Composite<F>(Made, F);

impl<F, O> Node<u64> for Composite<F>
where
    F: Fn(Made, u64) -> O + Send + Sync,
    O: Future<Output = Result<u64, BoxError>> + Send,
{
    type Prep = u64;
    type Exec = u64;
    type Error = BoxError;

    fn is_composite(&self) -> bool {
        true
    }

    fn prep(&self, n: &mut u64) -> Result<u64, BoxError> {
        Ok(*n)
    }

    async fn exec(&self, n: &u64) -> Result<u64, BoxError> {
        (self.1)(self.0.clone(), *n).await
    }

    fn post(&self, state: &mut u64, _: u64, n: u64) -> Result<Action, BoxError> {
        *state = n;
        Ok(Action::DEFAULT)
    }
}

fn composite<F, O>(made: &Made, exec: F) -> Composite<F>
where
    F: Fn(Made, u64) -> O + Send + Sync,
    O: Future<Output = Result<u64, BoxError>> + Send,
{
    Composite(made.clone(), exec)
}

fn flow(node: impl Node<u64> + 'static) -> Flow<u64> {
    Flow::builder("f")
        .node("n", node)
        .chain(["n"])
        .build()
        .unwrap()
}

/// Runs a flow from the start with these entries.
async fn run(flow: &Flow<u64>, lines: &Lines) -> Result<u64, cogwork_flow::RunError> {
    let mut state = 0;
    lines.run(flow, &mut state).await?;

    Ok(state)
}

/// The names of the steps and calls with an outcome.
fn outcomes(lines: &Lines) -> Vec<String> {
    let step = |entry: Entry| match entry {
        Entry::Outcome { step, .. } => Some(step),
        _ => None,
    };
    lines.all().into_iter().filter_map(step).collect()
}
