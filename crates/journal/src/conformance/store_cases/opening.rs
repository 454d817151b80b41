//! Starting and resuming runs.

use super::opens::{Store, ends_with, open, refused, take_steps};
use crate::conformance::broken_promise::{Checked, equal, unexpected};
use crate::conformance::flows::{self, EVENT};
use crate::conformance::trial::{Case, unique};
use crate::conformance::{Open, RefusalKind};

/// Numbers of steps after which a run of a loop from 3 is interrupted: none, one, several, all.
const POINTS: [usize; 4] = [0, 1, 4, 10];

pub(super) async fn once(store: Store) -> Checked {
    let case = Case::of(&flows::A_LOOP)?;
    take_steps(&store, Open::Start, &case, 4).await?;

    let mut again = Case::of(&flows::A_LOOP)?;
    again.attempt.run_id.clone_from(&case.attempt.run_id);
    again.attempt.input = vec![1, 1];
    let second = store.open(Open::Start, &again.attempt).await;
    refused("a second start", RefusalKind::AlreadyThere, second)?;

    ends_with(
        "the run after the second start",
        &store,
        Open::Resume,
        &case,
        &[96, 60],
    )
    .await?;
    equal("its calls", &5, &case.world.calls().len())
}

pub(super) async fn missing(store: Store) -> Checked {
    let case = Case::of(&flows::A_LOOP)?;
    for how in [Open::Resume, Open::ResumeChanged] {
        let opened = store.open(how, &case.attempt).await;
        refused(&format!("`{how:?}`"), RefusalKind::Missing, opened)?;
    }

    let delivered = store.deliver(&case.attempt.run_id, EVENT, "7").await;
    refused("an answer", RefusalKind::Missing, delivered)?;
    equal("the list", &Vec::new(), &store.list().await?)
}

pub(super) async fn keeps_input(store: Store) -> Checked {
    let mut case = Case::of(&flows::A_LOOP)?;
    case.attempt.input = vec![0, u64::MAX, 1 << 53, (1 << 53) + 1];
    drop(open(&store, Open::Start, &case).await?);

    let opened = open(&store.another_process(), Open::Resume, &case).await?;
    equal("the input", &case.attempt.input, &opened.state)
}

pub(super) async fn different_input(store: Store) -> Checked {
    for steps in POINTS {
        let at = format!("after {steps} steps");
        let case = Case::of(&flows::A_LOOP)?;
        take_steps(&store, Open::StartOrResume, &case, steps).await?;

        let mut different = case.attempt.clone();
        different.input = vec![3, 61];
        let opened = store.open(Open::StartOrResume, &different).await;
        refused(&at, RefusalKind::AnotherInput, opened)?;

        ends_with(&at, &store, Open::StartOrResume, &case, &[96, 60]).await?;
    }
    Ok(())
}

pub(super) async fn same_input(store: Store) -> Checked {
    for steps in POINTS {
        let at = format!("after {steps} steps");
        let case = Case::of(&flows::A_LOOP)?;
        take_steps(&store, Open::StartOrResume, &case, steps).await?;

        ends_with(&at, &store, Open::StartOrResume, &case, &[96, 60]).await?;
        equal(&at, &5, &case.world.calls().len())?;
    }
    Ok(())
}

pub(super) async fn different_state(store: Store) -> Checked {
    let case = Case::new(unique("state"), |world| (flows::A_LOOP.define)(world), &[3])?;
    take_steps(&store, Open::Start, &case, 4).await?;

    let opened = open(&store, Open::Resume, &case).await?;
    let mut state = vec![opened.state.iter().sum::<u64>() + 1];
    let mut run = case.attempt.flow.begin().with_journal(opened.journal);
    match run.finish(&mut state).await {
        Err(error) if error.is_another_state() => Ok(()),
        finished => unexpected(
            "a run that is resumed with a different state",
            "the error `is_another_state`",
            &format_args!("{finished:?} with {state:?}"),
        ),
    }
}
