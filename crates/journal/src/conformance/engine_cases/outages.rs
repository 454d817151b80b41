//! A server that fails in the middle of a run.

use std::pin::pin;
use std::time::Duration;

use super::reference::Reference;
use crate::conformance::broken_promise::{BrokenPromise, Checked, unexpected};
use crate::conformance::flows;
use crate::conformance::trial::{Trial, unique};
use crate::conformance::{Stopped, TestedEngine};

/// How long the server is unavailable, unless the run stops before that.
const OUTAGE: Duration = Duration::from_millis(1_500);

/// How long a run may take to stop or to continue.
const PATIENCE: Duration = Duration::from_secs(60);

pub(super) async fn loses_nothing(engine: &dyn TestedEngine) -> Checked {
    let kind = flows::A_LOOP;
    let reference = Reference::of(&kind).await?;
    let mut trial = Trial::new(engine, unique("outage"), kind.define, kind.input)?;
    trial.world.halt_at(3);

    let mut proceeding = pin!(engine.proceed(trial.attempt.clone()));
    let at = "at the third call";
    tokio::select! {
        biased;
        () = trial.world.halted() => {}
        stopped = &mut proceeding => {
            return unexpected(at, "a run in progress", &stopped);
        }
    }

    let crash = trial.world.now();
    engine.set_available(false).await?;
    trial.world.release();
    let stopped = tokio::time::timeout(OUTAGE, &mut proceeding).await;
    engine.set_available(true).await?;

    let at = "a run whose server is unavailable";
    match stopped {
        Ok(Ok(stopped @ Stopped::Ended { .. })) => {
            return unexpected(at, "no use of an outcome that isn't recorded", &stopped);
        }
        Ok(_) => {}
        Err(_) => {
            let stopped = tokio::time::timeout(PATIENCE, proceeding).await;
            let _ = stopped.map_err(|_| {
                BrokenPromise::new(at, "the end, or an error", "neither within 60 seconds")
            })?;
        }
    }

    trial.crashes.push(crash);
    let end = trial.until_the_end().await?;
    reference.check_end(&end)?;
    trial.check_calls(1)
}
