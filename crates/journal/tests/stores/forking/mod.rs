//! Runs that begin with a part of the record of another run.

mod answers;
mod atomic;
mod basics;
mod preview;
mod refused;
mod states;

use cogwork_flow::Flow;
use cogwork_journal::{Fork, RunJournal, StoreError};

use crate::each::Tested;
use crate::work::{Calls, Work, counted, flow, undisturbed};

/// Records the run `a` of a flow of 7 steps: three calls of `gather`, a batch of three items, and
/// three calls of `adding/add`.
async fn recorded<S: Tested>(store: &S, calls: &Calls) -> Flow<Work> {
    let flow = flow(&counted(calls));
    let journal = store.start("a", &flow, &Work::of(3)).await.unwrap();
    assert_eq!(finish(&flow, journal).await, undisturbed(3).await);
    calls.lock().unwrap().clear();
    flow
}

/// Executes a run until it ends. Returns its state.
async fn finish(flow: &Flow<Work>, journal: RunJournal) -> Work {
    let mut work = journal.state().unwrap();
    let mut run = flow.begin().with_journal(journal);
    run.finish(&mut work).await.unwrap();
    work
}

/// Forks the run `a` and executes the fork until it ends. Returns its state.
async fn finish_fork<S: Tested>(
    store: &S,
    flow: &Flow<Work>,
    fork: Fork<Work>,
) -> Result<Work, StoreError> {
    let journal = store.fork("a", flow, fork).await?;
    Ok(finish(flow, journal).await)
}

/// Takes the calls that were made, without the id of the run.
fn steps(calls: &Calls) -> Vec<String> {
    let mut calls = std::mem::take(&mut *calls.lock().unwrap());
    calls.sort();
    let steps = calls.iter().map(|key| key.split_once(':').unwrap().1);
    steps.map(str::to_owned).collect()
}
