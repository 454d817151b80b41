//! Outcomes that are large, or too large.

use super::answers::until_state;
use crate::conformance::broken_promise::{BrokenPromise, Checked, equal, unexpected};
use crate::conformance::flows;
use crate::conformance::trial::{Trial, unique};
use crate::conformance::{Stopped, TestedEngine};

const MIB: usize = 1 << 20;

pub(super) async fn large(engine: &dyn TestedEngine) -> Checked {
    let limit = engine.max_outcome().unwrap_or(usize::MAX);
    let bytes = MIB.min(limit / 2);
    let define = |world: &_| flows::large_value(world, bytes);
    let mut trial = Trial::new(engine, unique("large"), define, &[3])?;

    trial.crash_at(3).await?;
    until_state(&mut trial, "after a large outcome", &[12, bytes as u64]).await?;
    trial.check_calls(1)
}

pub(super) async fn too_large(engine: &dyn TestedEngine) -> Checked {
    let at = "an outcome above the limit";
    let limit = engine.max_outcome();
    let limit = limit.ok_or_else(|| BrokenPromise::new(at, "a limit in `max_outcome`", "none"))?;
    let define = |world: &_| flows::large_value(world, limit + 1);
    let mut trial = Trial::new(engine, unique("too-large"), define, &[3])?;

    for _ in 0..3 {
        match trial.proceed().await {
            Err(_) | Ok(Some(Stopped::Failed { .. })) => {}
            Ok(stopped) => {
                return unexpected(at, "an error", &stopped);
            }
        }

        let counts = trial.world.counts();
        let small = counts.iter().filter(|(step, _)| step.contains("/small#"));
        let small: usize = small.map(|(_, count)| count).sum();
        equal("the call before the outcome above the limit", &1, &small)?;
        let last = counts.keys().any(|step| step.contains("/last#"));
        equal(
            "whether the call after it was made, which uses it",
            &false,
            &last,
        )?;
    }
    Ok(())
}
