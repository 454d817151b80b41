//! What cases do with runs.

use std::sync::Arc;

use crate::conformance::broken_promise::{BrokenPromise, Checked, equal, unexpected};
use crate::conformance::run::execute;
use crate::conformance::trial::Case;
use crate::conformance::{Open, Opened, Refusal, RefusalKind, Stopped, TestedStore};

pub(super) type Store = Arc<dyn TestedStore>;

/// Executes a run until it stops.
pub(super) async fn finish(store: &Store, how: Open, case: &Case) -> Result<Stopped, Refusal> {
    let opened = store.open(how, &case.attempt).await?;
    execute(&case.attempt.flow, opened.journal, opened.state).await
}

/// Executes a run, which must end with this state.
pub(super) async fn ends_with(
    at: &str,
    store: &Store,
    how: Open,
    case: &Case,
    state: &[u64],
) -> Checked {
    let stopped = finish(store, how, case).await?;
    equal(at, &state.to_vec(), &end(at, stopped)?)
}

/// Executes a run for so many steps, and closes it.
pub(super) async fn take_steps(store: &Store, how: Open, case: &Case, steps: usize) -> Checked {
    let opened = store.open(how, &case.attempt).await?;
    let mut state = opened.state;
    let mut run = case.attempt.flow.begin().with_journal(opened.journal);

    for step in 1..=steps {
        let at = format!("step {step} of run `{}`", case.attempt.run_id);
        let taken = run.step(&mut state).await;
        taken.map_err(|error| BrokenPromise::new(at, "a step", error))?;
    }
    Ok(())
}

/// Checks that something was refused for this reason.
pub(super) fn refused<T: std::fmt::Debug>(
    at: &str,
    kind: RefusalKind,
    result: Result<T, Refusal>,
) -> Checked {
    match result {
        Err(refusal) if refusal.kind == kind => Ok(()),
        Err(refusal) => unexpected(at, format_args!("the refusal `{kind:?}`"), &refusal),
        Ok(value) => unexpected(at, format_args!("the refusal `{kind:?}`"), &value),
    }
}

/// Returns the state with which a run ended.
pub(super) fn end(at: &str, stopped: Stopped) -> Result<Vec<u64>, BrokenPromise> {
    match stopped {
        Stopped::Ended { state, .. } => Ok(state),
        stopped => unexpected(at, "the end of the run", &stopped),
    }
}

/// Opens a run, which must be possible.
pub(super) async fn open(store: &Store, how: Open, case: &Case) -> Result<Opened, BrokenPromise> {
    let at = format!("`{how:?}` of run `{}`", case.attempt.run_id);
    let opened = store.open(how, &case.attempt).await;
    opened.map_err(|refusal| BrokenPromise::new(at, "an open run", refusal))
}
