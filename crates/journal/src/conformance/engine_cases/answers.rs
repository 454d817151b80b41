//! Answers to events.

use crate::conformance::broken_promise::{BrokenPromise, Checked, equal, unexpected};
use crate::conformance::flows::{self, EVENT};
use crate::conformance::trial::{Trial, unique};
use crate::conformance::{Stopped, TestedEngine};

/// A run that makes a call, waits, and makes a call.
fn asks(engine: &dyn TestedEngine) -> Result<Trial<'_>, BrokenPromise> {
    let define = |world: &_| flows::waits_once(world, EVENT);
    Trial::new(engine, unique("asks"), define, &[3])
}

/// Executes the run until it waits.
pub(super) async fn until_it_waits(trial: &mut Trial<'_>) -> Checked {
    match trial.proceed().await? {
        Some(Stopped::Waiting { event, .. }) if event == EVENT => Ok(()),
        stopped => unexpected(
            "at the wait",
            format_args!("a run that waits for `{EVENT}`"),
            &stopped,
        ),
    }
}

/// Executes the run until its end, which must be this state.
pub(super) async fn until_state(trial: &mut Trial<'_>, at: &str, expected: &[u64]) -> Checked {
    match trial.proceed().await? {
        Some(Stopped::Ended { state, .. }) => equal(at, &expected.to_vec(), &state),
        stopped => unexpected(
            at,
            format_args!("the end of the run with {expected:?}"),
            &stopped,
        ),
    }
}

pub(super) async fn early(engine: &dyn TestedEngine) -> Checked {
    let mut trial = asks(engine)?;
    trial.crash_at(1).await?;

    trial.deliver(EVENT, "5").await?;
    until_state(&mut trial, "after an early answer", &[12, 5]).await
}

pub(super) async fn in_order(engine: &dyn TestedEngine) -> Checked {
    let define = |world: &_| flows::sums(world, 5);
    let mut trial = Trial::new(engine, unique("in-order"), define, &[3, 1])?;
    until_it_waits(&mut trial).await?;

    for answer in ["5", "6", "8"] {
        trial.deliver(EVENT, answer).await?;
    }
    until_state(&mut trial, "after three answers", &[6, 1, 5, 6, 8]).await
}

pub(super) async fn survives(engine: &dyn TestedEngine) -> Checked {
    let mut trial = asks(engine)?;
    until_it_waits(&mut trial).await?;

    // A run on an engine may continue as soon as the answer arrives.
    trial.world.halt_at(2);
    trial.deliver(EVENT, "5").await?;
    let crashed = trial.proceed().await?;
    equal("at the call after the answer", &None, &crashed)?;
    until_state(&mut trial, "after a crash with a used answer", &[12, 5]).await?;
    trial.check_calls(1)
}

pub(super) async fn after_a_refusal(engine: &dyn TestedEngine) -> Checked {
    let mut trial = asks(engine)?;
    until_it_waits(&mut trial).await?;
    trial.deliver(EVENT, "\"five\"").await?;

    // Some engines report the refusal as an error of the run, and others only to the person who
    // answered.
    let refused = trial.proceed().await;
    if let Ok(Some(Stopped::Ended { state, .. })) = refused {
        return unexpected(
            "after an answer that isn't a number",
            "a refusal",
            &format_args!("the end with {state:?}"),
        );
    }
    until_it_waits(&mut trial).await?;

    trial.deliver(EVENT, "5").await?;
    until_state(&mut trial, "after a second answer", &[12, 5]).await
}

pub(super) async fn to_unknown_event(engine: &dyn TestedEngine) -> Checked {
    let mut trial = asks(engine)?;
    until_it_waits(&mut trial).await?;

    for event in ["questoin", "", "question "] {
        if trial.deliver(event, "5").await.is_ok() {
            return unexpected(
                format_args!("an answer to the event `{event}`"),
                format_args!("a refusal, because the flow only waits for `{EVENT}`"),
                &format_args!("success"),
            );
        }
    }

    trial.deliver(EVENT, "5").await?;
    until_state(&mut trial, "after refused answers", &[12, 5]).await
}

pub(super) async fn after_the_end(engine: &dyn TestedEngine) -> Checked {
    let mut trial = asks(engine)?;
    until_it_waits(&mut trial).await?;
    trial.deliver(EVENT, "5").await?;
    until_state(&mut trial, "after the answer", &[12, 5]).await?;

    match trial.deliver(EVENT, "6").await {
        Err(_) => Ok(()),
        Ok(()) => unexpected(
            "an answer after the end of the run",
            "a refusal",
            &format_args!("success"),
        ),
    }
}
