//! Crashes at calls, and runs that are dropped anywhere.

use futures_util::{StreamExt, TryStreamExt, stream};

use super::reference::Reference;
use crate::conformance::broken_promise::{Checked, equal, unexpected};
use crate::conformance::flows::{self, Kind};
use crate::conformance::trial::{Trial, unique};
use crate::conformance::{Stopped, TestedEngine};

/// The number of runs at the same time.
const RUNS_AT_ONCE: usize = 8;

/// The maximum number of polls until a run of the suite ends.
const MAX_POLLS: usize = 5_000;

pub(crate) async fn at_each_call(engine: &dyn TestedEngine, kind: &Kind) -> Checked {
    let reference = Reference::of(kind).await?;

    // The last run doesn't crash.
    let calls = 1..=reference.calls + 1;
    let runs = calls.map(|call| {
        let reference = &reference;
        async move {
            let crashed = crash_at(engine, kind, reference, call).await;
            crashed.map_err(|problem| problem.inside(format_args!("crash at call {call}")))
        }
    });

    let runs = stream::iter(runs).buffer_unordered(RUNS_AT_ONCE);
    runs.try_collect().await
}

async fn crash_at(
    engine: &dyn TestedEngine,
    kind: &Kind,
    reference: &Reference,
    call: usize,
) -> Checked {
    let run_id = unique("crash");
    let mut trial = Trial::new(engine, run_id, kind.define, kind.input)?;
    trial.world.halt_at(call);

    let end = trial.until_the_end().await?;
    check(&trial, kind, reference, &end)
}

/// The first process crashes at the first call, the second one at the second, and so on.
pub(super) async fn at_all_calls(engine: &dyn TestedEngine, kind: &Kind) -> Checked {
    let reference = Reference::of(kind).await?;
    let mut trial = Trial::new(engine, unique("crash"), kind.define, kind.input)?;
    trial.world.halt_at_each();

    let end = trial.until_the_end().await?;
    check(&trial, kind, &reference, &end)
}

/// Drops the run after each number of polls.
pub(crate) async fn anywhere(engine: &dyn TestedEngine, kind: &Kind) -> Checked {
    let reference = Reference::of(kind).await?;

    for polls in 1..MAX_POLLS {
        let mut trial = Trial::new(engine, unique("dropped"), kind.define, kind.input)?;
        let is_whole = trial.proceed_for(polls).await?;
        let end = trial.until_the_end().await?;

        check(&trial, kind, &reference, &end)
            .map_err(|problem| problem.inside(format_args!("dropped after {polls} polls")))?;
        if is_whole {
            return Ok(());
        }
    }

    unexpected(
        "the number of polls",
        format_args!("a run that ends within {MAX_POLLS}"),
        &format_args!("more"),
    )
}

fn check(trial: &Trial<'_>, kind: &Kind, reference: &Reference, end: &Stopped) -> Checked {
    reference.check_end(end)?;
    trial.check_calls(kind.at_once)?;
    reference.check_steps(trial)
}

pub(super) async fn after_the_end(engine: &dyn TestedEngine) -> Checked {
    let kind = flows::A_LOOP;
    let reference = Reference::of(&kind).await?;
    let mut trial = Trial::new(engine, unique("ended"), kind.define, kind.input)?;
    let end = trial.until_the_end().await?;
    reference.check_end(&end)?;

    let before = trial.world.calls();
    for replay in 1..=3 {
        let at = format!("replay {replay} of a run that ended");
        let again = trial.until_the_end().await?;
        equal(&at, &end, &again)?;
        equal(&at, &before, &trial.world.calls())?;
    }
    Ok(())
}
