//! Edits the state before a step.

use async_trait::async_trait;
use cogwork_flow::Flow;
use cogwork_flow::journal::Snapshot;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::replay::{Replay, failed};
use crate::StoreError;
use crate::error::Kind;

/// An edit of the state after some steps.
#[async_trait]
pub(super) trait EditState<S>: Send {
    /// Replays the steps and edits the state.
    async fn snapshot(
        self: Box<Self>,
        flow: &Flow<S>,
        replay: Replay,
    ) -> Result<Snapshot, StoreError>;
}

pub(super) struct ChangeState<S, F> {
    /// The first state, if it isn't the input.
    pub(super) first: Option<S>,
    pub(super) edit: F,
}

#[async_trait]
impl<S, F> EditState<S> for ChangeState<S, F>
where
    S: Serialize + DeserializeOwned + Send + 'static,
    F: FnOnce(&mut S) + Send,
{
    async fn snapshot(
        self: Box<Self>,
        flow: &Flow<S>,
        replay: Replay,
    ) -> Result<Snapshot, StoreError> {
        let place = replay.place.clone();
        let run_id = replay.run_id.clone();
        let failed = |kind, problem: &dyn std::fmt::Display| failed(&place, &run_id, kind, problem);

        let ChangeState { first, edit } = *self;
        let mut replayed = replay.take(flow, first).await?;
        edit(&mut replayed.state);

        let snapshot = replayed.run.snapshot(&replayed.state);
        let snapshot = snapshot.map_err(|problem| failed(Kind::Value, &problem))?;
        let snapshot = snapshot.ok_or_else(|| failed(Kind::UnknownStep, &"it has ended"))?;

        // A snapshot that cannot be read back would be of no use.
        let read: Result<S, _> = snapshot.state.read();
        read.map_err(|problem| failed(Kind::Value, &problem))?;
        Ok(snapshot)
    }
}
