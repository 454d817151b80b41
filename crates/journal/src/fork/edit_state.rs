//! Edits the state before a step.

use std::pin::Pin;

use cogwork_flow::Flow;
use cogwork_flow::journal::Snapshot;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::replay::{Replay, failed};
use crate::StoreError;
use crate::error::Kind;

/// Replays some steps, and edits the state after them.
pub(super) type EditState<S> = Box<dyn for<'f> FnOnce(&'f Flow<S>, Replay) -> Edited<'f> + Send>;

pub(super) type Edited<'f> =
    Pin<Box<dyn Future<Output = Result<Snapshot, StoreError>> + Send + 'f>>;

pub(super) fn boxed<S>(edit: impl FnOnce(&mut S) + Send + 'static) -> EditState<S>
where
    S: Serialize + DeserializeOwned + Send + 'static,
{
    Box::new(move |flow, replay| Box::pin(snapshot(flow, replay, edit)))
}

async fn snapshot<S>(
    flow: &Flow<S>,
    replay: Replay,
    edit: impl FnOnce(&mut S) + Send,
) -> Result<Snapshot, StoreError>
where
    S: Serialize + DeserializeOwned + Send + 'static,
{
    let place = replay.place.clone();
    let run_id = replay.run_id.clone();
    let failed = |kind, problem: &dyn std::fmt::Display| failed(&place, &run_id, kind, problem);

    let mut replayed = replay.take(flow).await?;
    edit(&mut replayed.state);

    let snapshot = replayed.run.snapshot(&replayed.state);
    let snapshot = snapshot.map_err(|problem| failed(Kind::Value, &problem))?;
    let snapshot = snapshot.ok_or_else(|| failed(Kind::UnknownStep, &"it has ended"))?;

    // A snapshot that cannot be read back would be of no use.
    let read: Result<S, _> = snapshot.state.read();
    read.map_err(|problem| failed(Kind::Value, &problem))?;
    Ok(snapshot)
}
