//! Flows that change while a run is in progress.

use super::opens::{Store, ends_with, finish, open, refused, take_steps};
use crate::conformance::broken_promise::{BrokenPromise, Checked, equal, unexpected};
use crate::conformance::flows::{self, Built};
use crate::conformance::run::execute;
use crate::conformance::trial::Case;
use crate::conformance::world::World;
use crate::conformance::{Open, RefusalKind};

/// The same run with a different flow, which counts its calls together with the old one.
fn changed(old: &Case, define: fn(&World) -> Built) -> Result<Case, BrokenPromise> {
    let mut attempt = old.attempt.clone();
    attempt.flow = std::sync::Arc::new(define(&old.world)?);
    Ok(Case {
        world: old.world.clone(),
        attempt,
    })
}

pub(super) async fn on_request(store: Store) -> Checked {
    let old = Case::of(&flows::A_CHECKED_LOOP)?;
    take_steps(&store, Open::Start, &old, 1).await?;

    let new = changed(&old, flows::changed_loop)?;
    for how in [Open::Resume, Open::StartOrResume] {
        let opened = store.open(how, &new.attempt).await;
        refused(&format!("`{how:?}`"), RefusalKind::AnotherFlow, opened)?;
    }
    drop(open(&store, Open::ResumeChanged, &new).await?);

    let opened = store.open(Open::Resume, &old.attempt).await;
    refused("the old flow", RefusalKind::AnotherFlow, opened)?;
    ends_with("the new flow", &store, Open::Resume, &new, &[96, 60]).await?;
    equal("the calls of both flows", &5, &old.world.calls().len())
}

pub(super) async fn different_flow(store: Store) -> Checked {
    let old = Case::of(&flows::A_CHECKED_LOOP)?;
    take_steps(&store, Open::Start, &old, 2).await?;

    let new = changed(&old, flows::renamed_loop)?;
    for how in [Open::Resume, Open::StartOrResume, Open::ResumeChanged] {
        let opened = store.open(how, &new.attempt).await;
        refused(&format!("`{how:?}`"), RefusalKind::AnotherFlow, opened)?;
    }

    ends_with("the old flow", &store, Open::Resume, &old, &[96, 60]).await
}

pub(super) async fn of_the_past(store: Store) -> Checked {
    let old = Case::of(&flows::A_CHECKED_LOOP)?;
    finish(&store, Open::Start, &old).await?;

    let new = changed(&old, flows::changed_loop)?;
    let opened = open(&store, Open::ResumeChanged, &new).await?;
    let stopped = execute(&new.attempt.flow, opened.journal, opened.state).await;

    let at = "a run whose second step is a different node than the recorded one";
    match stopped {
        Err(refusal) if refusal.error.contains("examine") => {}
        stopped => {
            return unexpected(at, "an error that names `examine`", &stopped);
        }
    }
    equal("the calls", &5, &old.world.calls().len())
}

pub(super) async fn longer(store: Store) -> Checked {
    let old = Case::of(&flows::A_CHECKED_LOOP)?;
    finish(&store, Open::Start, &old).await?;

    let new = changed(&old, flows::longer_than_a_loop)?;
    ends_with(
        "the longer flow",
        &store,
        Open::ResumeChanged,
        &new,
        &[192, 60],
    )
    .await?;
    equal("its calls", &6, &old.world.calls().len())?;

    ends_with("a replay", &store, Open::Resume, &new, &[192, 60]).await?;
    equal("the calls of a replay", &6, &old.world.calls().len())
}
