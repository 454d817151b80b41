//! Several processes that want the same run.

use futures_util::future::join_all;

use super::opens::{Store, ends_with, open, refused};
use crate::conformance::broken_promise::{BrokenPromise, Checked, equal};
use crate::conformance::flows;
use crate::conformance::trial::Case;
use crate::conformance::{Open, RefusalKind};

pub(super) async fn two(store: Store) -> Checked {
    let case = Case::of(&flows::A_LOOP)?;
    let first = open(&store, Open::Start, &case).await?;

    for other in [store.clone(), store.another_process()] {
        for how in [Open::Resume, Open::StartOrResume, Open::ResumeChanged] {
            let second = other.open(how, &case.attempt).await;
            refused(&format!("`{how:?}`"), RefusalKind::InUse, second)?;
        }
    }

    let different = Case::of(&flows::A_LOOP)?;
    drop(open(&store.another_process(), Open::Start, &different).await?);

    drop(first);
    ends_with(
        "the run of the second process",
        &store.another_process(),
        Open::Resume,
        &case,
        &[96, 60],
    )
    .await
}

/// The number of processes that want the run.
const TAKERS: usize = 8;

pub(super) async fn many(store: Store) -> Checked {
    for round in 1..=5 {
        let at = format!("round {round}");
        let case = Case::of(&flows::A_LOOP)?;
        let takers: Vec<_> = (0..TAKERS).map(|_| store.another_process()).collect();
        let opening = takers
            .iter()
            .map(|taker| taker.open(Open::StartOrResume, &case.attempt));
        let opened = join_all(opening).await;

        let (winners, losers): (Vec<_>, Vec<_>) = opened.into_iter().partition(Result::is_ok);
        equal(
            format!("{at}, the processes with the run"),
            &1,
            &winners.len(),
        )?;
        for loser in losers {
            refused(&at, RefusalKind::InUse, loser)?;
        }
    }
    Ok(())
}

pub(super) async fn removal(store: Store) -> Checked {
    let case = Case::of(&flows::A_LOOP)?;
    let opened = open(&store, Open::Start, &case).await?;
    let run_id = &case.attempt.run_id;

    let removed = store.another_process().remove(run_id).await;
    refused("a removal", RefusalKind::InUse, removed)?;

    let mut state = opened.state;
    let mut run = case.attempt.flow.begin().with_journal(opened.journal);
    let finished = run.finish(&mut state).await;
    finished.map_err(|error| BrokenPromise::new("the run in use", "its end", error))?;
    drop(run);

    store.remove(run_id).await?;
    Ok(())
}
