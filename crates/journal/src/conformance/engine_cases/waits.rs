//! Limits of waits, sleeps, and cancellation.

use std::time::Instant;

use super::answers::until_it_waits;
use crate::conformance::broken_promise::{Checked, equal, unexpected};
use crate::conformance::flows::{self, EVENT, HOUR, SHORT};
use crate::conformance::trial::{Trial, unique};
use crate::conformance::{Stopped, TestedEngine};

pub(super) async fn limit_is_kept(engine: &dyn TestedEngine) -> Checked {
    let define = |world: &_| flows::waits_with_limit(world, EVENT, HOUR);
    let mut trial = Trial::new(engine, unique("limit"), define, &[3])?;
    let first = trial.proceed().await?;

    // Long enough that a limit that starts over is a different one.
    tokio::time::sleep(SHORT).await;
    let again = trial.proceed().await?;
    equal("a wait that is executed again", &first, &again)
}

pub(super) async fn sleep_is_not_shortened(engine: &dyn TestedEngine) -> Checked {
    let kind = flows::A_SLEEP;
    let mut trial = Trial::new(engine, unique("sleep"), kind.define, kind.input)?;
    trial.crash_at(1).await?;

    let began = Instant::now();
    trial.until_the_end().await?;
    let took = began.elapsed();
    if took >= SHORT {
        return Ok(());
    }

    unexpected("a sleep", format_args!("at least {SHORT:?}"), &took)
}

pub(super) async fn cancelled(engine: &dyn TestedEngine) -> Checked {
    let define = |world: &_| flows::waits_once(world, EVENT);
    let mut trial = Trial::new(engine, unique("cancelled"), define, &[3])?;
    until_it_waits(&mut trial).await?;
    engine.cancel(&trial.attempt.run_id).await?;

    for _ in 0..2 {
        let stopped = trial.proceed().await?;
        equal(
            "a run that was cancelled",
            &Some(Stopped::Cancelled),
            &stopped,
        )?;
        if trial.answer().await.is_ok() {
            return unexpected(
                "an answer to a run that was cancelled",
                "a refusal",
                &format_args!("success"),
            );
        }
    }
    Ok(())
}
