//! Processes that lost their run and continue to execute it.

use std::num::NonZeroU64;

use super::opens::{Store, end, open};
use crate::conformance::broken_promise::{BrokenPromise, Checked, equal, unexpected};
use crate::conformance::flows;
use crate::conformance::run::execute;
use crate::conformance::trial::Case;
use crate::conformance::{Open, Opened};

pub(super) async fn cannot_write(store: Store) -> Checked {
    old_process_fails(store, None).await
}

pub(super) async fn cannot_fold(store: Store) -> Checked {
    old_process_fails(store, Some(NonZeroU64::MIN)).await
}

async fn old_process_fails(store: Store, fold_every: Option<NonZeroU64>) -> Checked {
    let old = Case::of(&flows::A_LOOP)?;
    let opened = open(&store, Open::Start, &old).await?;
    let mut state = opened.state;
    let mut run = old.attempt.flow.begin().with_journal(opened.journal);
    if let Some(steps) = fold_every {
        run = run.with_fold_every(steps);
    }
    let step = run.step(&mut state).await;
    step.map_err(|error| {
        BrokenPromise::new("the first step of the old process", "success", error)
    })?;

    // The new process has the same run, and counts its own calls.
    let run_id = old.attempt.run_id.clone();
    store.expire_lease(&run_id).await?;
    let new = Case::new(run_id, flows::A_LOOP.define, flows::A_LOOP.input)?;
    let other = store.another_process();
    let Opened {
        journal,
        state: taken,
    } = open(&other, Open::Resume, &new).await?;

    match run.finish(&mut state).await {
        Err(error) if error.is_journal() => {}
        finished => {
            return unexpected(
                "the old process, after another one took its run",
                "an error of the journal",
                &finished,
            );
        }
    }

    // Also after the new process has written.
    let stopped = execute(&new.attempt.flow, journal, taken).await?;
    equal(
        "the new process",
        &vec![96, 60],
        &end("the new process", stopped)?,
    )?;
    equal("the calls of the new process", &4, &new.world.calls().len())?;
    if run.finish(&mut state).await.is_ok() {
        return unexpected(
            "the old process, after the new one ended the run",
            "an error of the journal",
            &format_args!("success"),
        );
    }
    drop(run);

    let opened = open(&other, Open::Resume, &new).await?;
    let stopped = execute(&new.attempt.flow, opened.journal, opened.state).await?;
    equal("a replay", &vec![96, 60], &end("a replay", stopped)?)?;
    equal("the calls of a replay", &4, &new.world.calls().len())
}
