//! Runs that begin with a part of the record of another run.

use super::opens::{Store, end, finish};
use crate::conformance::broken_promise::{Checked, equal, unexpected};
use crate::conformance::flows::{self, Kind};
use crate::conformance::run::execute;
use crate::conformance::trial::{Case, unique};
use crate::conformance::{Attempt, Open, RefusalKind};

const KINDS: [&Kind; 8] = [
    &flows::A_LOOP,
    &flows::A_BATCH,
    &flows::A_SUBFLOW,
    &flows::ITEMS,
    &flows::BRANCHES,
    &flows::NESTED,
    &flows::COMPOSITE,
    &flows::A_SLEEP,
];

pub(super) async fn at_each_step(store: Store) -> Checked {
    for kind in KINDS {
        let case = Case::of(kind)?;
        let stopped = finish(&store, Open::Start, &case).await?;
        let state = end("the run", stopped)?;
        let calls = case.world.calls();

        for step in 1.. {
            let before = case.world.calls().len();
            let fork = Attempt {
                run_id: unique("fork"),
                ..case.attempt.clone()
            };
            let opened = store.fork(&case.attempt.run_id, step, &fork).await;
            let opened = match opened {
                Ok(opened) => opened,
                Err(_) if step > 1 => break,
                Err(refusal) => return Err(refusal.into()),
            };

            let at = format!("a fork at step {step} of `{}`", case.attempt.run_id);
            let stopped = execute(&fork.flow, opened.journal, opened.state).await?;
            equal(&at, &state, &end(&at, stopped)?)?;

            let expected = calls.iter().filter(|call| number(call) >= step).count();
            let made = case.world.calls().len() - before;
            equal(format_args!("the calls of {at}"), &expected, &made)?;
        }
    }
    Ok(())
}

pub(super) async fn refused(store: Store) -> Checked {
    let case = Case::of(&flows::A_LOOP)?;
    finish(&store, Open::Start, &case).await?;
    let other = Case::of(&flows::A_LOOP)?;
    let refused = super::opens::refused;

    let missing = store.fork("missing", 1, &other.attempt).await;
    refused("a fork of no run", RefusalKind::Missing, missing)?;
    let same = store.fork(&case.attempt.run_id, 1, &case.attempt).await;
    refused("a fork with its id", RefusalKind::AlreadyThere, same)?;

    let far = store
        .fork(&case.attempt.run_id, 1_000, &other.attempt)
        .await;
    if far.is_ok() {
        let at = "a fork at step 1,000";
        return unexpected(at, "a refusal", &format_args!("an open run"));
    }

    let listed = store.list().await?;
    equal("the runs after refused forks", &1, &listed.len())
}

/// The number of the outermost step of a call.
fn number(call: &str) -> u64 {
    let number = call.split('#').nth(1).unwrap_or_default();
    let digits = number.split(|digit: char| !digit.is_ascii_digit()).next();
    digits
        .and_then(|digits| digits.parse().ok())
        .unwrap_or_default()
}
