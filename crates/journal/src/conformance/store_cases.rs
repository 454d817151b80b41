//! What every store has to do, in addition to what every engine has to.

use std::num::NonZeroU64;
use std::sync::Arc;

use cogwork_flow::BoxError;
use futures_util::future::join_all;

use super::engine_cases::{crash_at_each_call, drop_at_each_poll};
use super::flows::{self, EVENT};
use super::suite::{Checked, StoreCase, cases, equal, unexpected};
use super::trial::{StoreEngine, Trial, finish};
use super::{Attempt, Open, Opened, Stopped, TestedStore};
use crate::{StoreError, StoreErrorKind};

pub(super) type Store = Arc<dyn TestedStore>;

cases! {
    STORE_CASES: StoreCase, |store|;
    a_run_is_started_once,
    a_missing_run_is_reported,
    a_run_is_resumed_with_its_input,
    a_different_state_is_refused,
    a_run_in_use_is_not_opened,
    of_many_takers_one_gets_the_run,
    an_answer_comes_from_another_process,
    a_run_with_snapshots_continues_after_a_crash,
    a_snapshot_keeps_answers_and_the_input,
}

fn asks(run_id: &str) -> Result<Trial, BoxError> {
    Trial::named(run_id, |world| flows::asks(world, EVENT), &[3])
}

/// Opens a run, and executes it until it stops.
async fn stopped(store: &Store, how: Open, trial: &Trial) -> Result<Stopped, StoreError> {
    let opened = store.open(how, &trial.attempt).await?;
    proceed(opened, &trial.attempt).await
}

async fn proceed(opened: Opened, attempt: &Attempt) -> Result<Stopped, StoreError> {
    let run = attempt.flow.begin().with_journal(opened.journal);
    finish(run, opened.state).await
}

/// Executes a run, which must end with this state.
async fn ends_with(store: &Store, how: Open, trial: &Trial, expected: &[u64]) -> Checked {
    let stopped = stopped(store, how, trial).await?;
    has_ended(stopped, expected)
}

fn has_ended(stopped: Stopped, expected: &[u64]) -> Checked {
    match stopped {
        Stopped::Ended { state, .. } => equal("the final state", &expected.to_vec(), &state),
        stopped => unexpected("the run", "its end", &stopped),
    }
}

/// Executes a run for so many steps, and closes it.
async fn take_steps(store: &Store, how: Open, trial: &Trial, steps: usize) -> Checked {
    let opened = store.open(how, &trial.attempt).await?;
    let mut state = opened.state;
    let mut run = trial.attempt.flow.begin().with_journal(opened.journal);

    for _ in 0..steps {
        run.step(&mut state).await?;
    }
    Ok(())
}

/// Checks that something was refused for this reason.
fn refused<T>(at: &str, kind: StoreErrorKind, result: Result<T, StoreError>) -> Checked {
    match result {
        Err(refusal) if refusal.kind() == kind => Ok(()),
        Err(refusal) => unexpected(at, format_args!("the refusal `{kind:?}`"), &refusal),
        Ok(_) => unexpected(at, format_args!("the refusal `{kind:?}`"), &"success"),
    }
}

/// Checks that a run cannot be opened in these ways.
async fn refuses(store: &Store, ways: &[Open], trial: &Trial, kind: StoreErrorKind) -> Checked {
    for how in ways {
        let opened = store.open(*how, &trial.attempt).await;
        refused(&format!("`{how:?}`"), kind, opened)?;
    }
    Ok(())
}

fn calls(trial: &Trial, expected: usize) -> Checked {
    equal("the number of calls", &expected, &trial.world.calls().len())
}

/// A run is started once. A second start is refused and changes nothing.
async fn a_run_is_started_once(store: Store) -> Checked {
    let trial = Trial::of(&flows::LOOP)?;
    take_steps(&store, Open::Start, &trial, 4).await?;

    let kind = StoreErrorKind::AlreadyThere;
    refuses(&store, &[Open::Start], &trial, kind).await?;
    ends_with(&store, Open::Resume, &trial, &[96, 60]).await?;
    calls(&trial, 5)
}

/// A run that doesn't exist cannot be resumed or answered.
async fn a_missing_run_is_reported(store: Store) -> Checked {
    let (trial, kind) = (asks("a")?, StoreErrorKind::Missing);
    // In an empty store, and in one that has another run.
    for is_empty in [true, false] {
        refuses(&store, &[Open::Resume], &trial, kind).await?;
        refused("an answer", kind, store.deliver("a", EVENT, "7").await)?;
        if is_empty {
            stopped(&store, Open::Start, &asks("b")?).await?;
        }
    }
    Ok(())
}

/// A resumed run has the input with which it was started. A different one is refused, however far it came.
async fn a_run_is_resumed_with_its_input(store: Store) -> Checked {
    let mut trial = Trial::of(&flows::LOOP)?;
    // Numbers that lose digits if they are read as floating-point numbers.
    trial.attempt.input = vec![0, u64::MAX, 1 << 53, (1 << 53) + 1];
    store.open(Open::Start, &trial.attempt).await?;
    // Another process doesn't have the input in memory.
    let other = store.another_process();
    let opened = other.open(Open::Resume, &trial.attempt).await?;
    equal("the input", &trial.attempt.input, &opened.state)?;

    // However far the run came: none, one, several, or all of its steps.
    for steps in [0, 1, 4, 5] {
        let mut trial = Trial::of(&flows::LOOP)?;
        take_steps(&store, Open::StartOrResume, &trial, steps).await?;

        trial.attempt.input = vec![3, 61];
        let kind = StoreErrorKind::AnotherInput;
        refuses(&store, &[Open::StartOrResume], &trial, kind).await?;

        trial.attempt.input = vec![3, 60];
        ends_with(&store, Open::StartOrResume, &trial, &[96, 60]).await?;
        calls(&trial, 5)?;
    }
    Ok(())
}

/// A run is refused if it is resumed with a state that isn't the recorded one.
async fn a_different_state_is_refused(store: Store) -> Checked {
    let trial = Trial::of(&flows::LOOP)?;
    take_steps(&store, Open::Start, &trial, 4).await?;

    let opened = store.open(Open::Resume, &trial.attempt).await?;
    let mut run = trial.attempt.flow.begin().with_journal(opened.journal);
    match run.finish(&mut vec![4, 60]).await {
        Err(error) if error.is_another_state() => Ok(()),
        got => unexpected("a different state", "the error `is_another_state`", &got),
    }
}

/// While a process uses a run, others cannot open it. After that, they can.
async fn a_run_in_use_is_not_opened(store: Store) -> Checked {
    let trial = Trial::of(&flows::LOOP)?;
    let first = store.open(Open::Start, &trial.attempt).await?;
    let other = store.another_process();

    let kind = StoreErrorKind::InUse;
    let ways = [Open::Resume, Open::StartOrResume];
    for store in [&store, &other] {
        refuses(store, &ways, &trial, kind).await?;
    }

    // Other runs are free, and so is this one after its first process.
    other
        .open(Open::Start, &Trial::of(&flows::LOOP)?.attempt)
        .await?;
    drop(first);
    ends_with(&other, Open::Resume, &trial, &[96, 60]).await
}

/// If many processes open a run at once, one of them gets it.
async fn of_many_takers_one_gets_the_run(store: Store) -> Checked {
    // Several times, because a race is only lost now and then.
    for _ in 1..=5 {
        let trial = Trial::of(&flows::LOOP)?;
        let takers: Vec<_> = (0..8).map(|_| store.another_process()).collect();
        let opening = takers
            .iter()
            .map(|taker| taker.open(Open::StartOrResume, &trial.attempt));
        let opened = join_all(opening).await;

        let (winners, losers): (Vec<_>, Vec<_>) = opened.into_iter().partition(Result::is_ok);
        equal("the processes with the run", &1, &winners.len())?;
        for loser in losers {
            refused("the others", StoreErrorKind::InUse, loser)?;
        }
    }
    Ok(())
}

/// Another process answers while nobody executes the run.
async fn an_answer_comes_from_another_process(store: Store) -> Checked {
    let trial = asks("a")?;
    stopped(&store, Open::Start, &trial).await?;

    let other = store.another_process();
    let misspelt = other.deliver("a", "questoin", "5").await;
    refused("a misspelt event", StoreErrorKind::UnknownEvent, misspelt)?;
    other.deliver("a", EVENT, "5").await?;
    ends_with(&store.another_process(), Open::Resume, &trial, &[12, 5]).await?;

    let late = other.deliver("a", EVENT, "6").await;
    refused("an answer after the end", StoreErrorKind::Ended, late)
}

/// A run continues from its snapshot after a crash at each call, and when it is dropped anywhere.
async fn a_run_with_snapshots_continues_after_a_crash(store: Store) -> Checked {
    // A snapshot after each step, after some, and in the middle of a loop.
    for every in [1, 2, 3] {
        let folding = StoreEngine::folding(store.clone(), every);
        crash_at_each_call(&folding, &flows::LOOP).await?;
        drop_at_each_poll(&folding, &flows::LOOP).await?;
    }

    let folding = StoreEngine::folding(store, 1);
    crash_at_each_call(&folding, &flows::NESTED).await?;
    crash_at_each_call(&folding, &flows::WAITING).await?;
    drop_at_each_poll(&folding, &flows::CALLS).await
}

/// A snapshot keeps unused answers and the input.
async fn a_snapshot_keeps_answers_and_the_input(store: Store) -> Checked {
    let trial = Trial::new(flows::sums, &[3, 1])?;
    // The run is only started, so that the answers come before its first step.
    take_steps(&store, Open::Start, &trial, 0).await?;
    for answer in ["5", "6"] {
        store.deliver(&trial.attempt.run_id, EVENT, answer).await?;
    }

    // The snapshot follows the first step.
    let opened = store.open(Open::Resume, &trial.attempt).await?;
    let mut state = opened.state;
    let run = trial.attempt.flow.begin().with_journal(opened.journal);
    run.with_fold_every(NonZeroU64::MIN)
        .step(&mut state)
        .await?;

    let opened = store.open(Open::Resume, &trial.attempt).await?;
    equal("the state in the snapshot", &vec![6, 1], &opened.state)?;
    has_ended(proceed(opened, &trial.attempt).await?, &[6, 1, 5, 6])?;

    // A snapshot doesn't change what the run was started with.
    ends_with(&store, Open::StartOrResume, &trial, &[6, 1, 5, 6]).await?;
    calls(&trial, 1)
}
