//! Snapshots that replace the beginning of a record.

use std::num::NonZeroU64;

use super::opens::{Store, end, open, take_steps};
use crate::conformance::Open;
use crate::conformance::broken_promise::{BrokenPromise, Checked, equal};
use crate::conformance::engine_cases::crashes as engine;
use crate::conformance::flows::{self, EVENT, Kind};
use crate::conformance::run::{StoreEngine, execute, finish};
use crate::conformance::trial::{Case, unique};

/// A snapshot after each step, after some, and in the middle of a loop.
fn engines(store: &Store) -> impl Iterator<Item = StoreEngine> + '_ {
    let every = [1, 2, 3].into_iter().filter_map(NonZeroU64::new);
    every.map(|every| StoreEngine::over(store.clone()).with_fold_every(every))
}

const KINDS: [&Kind; 4] = [
    &flows::A_LOOP,
    &flows::A_SUBFLOW,
    &flows::WAITS_IN_A_LOOP,
    &flows::A_SLEEP,
];

pub(super) async fn crashes(store: Store) -> Checked {
    for folding in engines(&store) {
        for kind in KINDS {
            engine::at_each_call(&folding, kind).await?;
        }
    }
    Ok(())
}

pub(super) async fn anywhere(store: Store) -> Checked {
    for folding in engines(&store) {
        engine::anywhere(&folding, &flows::A_LOOP).await?;
    }

    // Each of these has few steps, so there is a snapshot after each.
    let folding = StoreEngine::over(store).with_fold_every(NonZeroU64::MIN);
    for kind in [&flows::A_BATCH, &flows::A_SUBFLOW, &flows::COMPOSITE] {
        engine::anywhere(&folding, kind).await?;
    }
    Ok(())
}

pub(super) async fn keeps(store: Store) -> Checked {
    let define = |world: &_| flows::sums(world, 4);
    let case = Case::new(unique("folds"), define, &[3, 1])?;
    take_steps(&store, Open::Start, &case, 0).await?;
    for answer in ["5", "6"] {
        store.deliver(&case.attempt.run_id, EVENT, answer).await?;
    }

    // The snapshot follows the first step, and the answers come after that.
    let opened = open(&store, Open::Resume, &case).await?;
    let mut state = opened.state;
    let run = case.attempt.flow.begin().with_journal(opened.journal);
    let mut run = run.with_fold_every(NonZeroU64::MIN);
    let step = run.step(&mut state).await;
    step.map_err(|error| BrokenPromise::new("the first step", "success", error))?;
    drop(run);

    let opened = open(&store, Open::Resume, &case).await?;
    equal("the state in the snapshot", &vec![6, 1], &opened.state)?;
    let run = case.attempt.flow.begin().with_journal(opened.journal);
    let run = run.with_fold_every(NonZeroU64::MIN);
    let stopped = finish(run, opened.state).await?;
    equal("the end", &vec![6, 1, 5, 6], &end("the end", stopped)?)?;
    equal("the calls", &1, &case.world.calls().len())?;

    // A snapshot doesn't change what the run was started with.
    let opened = open(&store, Open::StartOrResume, &case).await?;
    let stopped = execute(&case.attempt.flow, opened.journal, opened.state).await?;
    equal("a replay", &vec![6, 1, 5, 6], &end("a replay", stopped)?)
}
