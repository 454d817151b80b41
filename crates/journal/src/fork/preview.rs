//! What a fork begins with, before it is started.

use cogwork_flow::Flow;
use cogwork_flow::journal::Json;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::Fork;
use super::plan::{Plan, first_state};
use super::previewed::ForkPreview;
use super::replay::{Replay, failed};
use crate::error::Kind;
use crate::{Store, StoreError};

impl<S> Fork<S> {
    /// Replays the part of the record that the fork keeps.
    pub(crate) async fn preview(
        self,
        store: &Store,
        run_id: &str,
        flow: &Flow<S>,
    ) -> Result<ForkPreview<S>, StoreError>
    where
        S: Serialize + DeserializeOwned + Send + 'static,
    {
        let plan = self.plan(store, run_id, flow).await?;
        let Plan {
            place,
            header,
            origin,
            lines,
            outcomes,
            steps,
        } = plan;

        let first = first_state(&lines).map_or_else(|| Json::of(&header.input), Ok);
        let first = first.map_err(|problem| failed(&place, run_id, Kind::Damaged, &problem))?;
        let replay = Replay {
            place: place.clone(),
            run_id: run_id.to_owned(),
            first,
            entries: lines.into_iter().map(|line| line.entry).collect(),
            steps: steps.complete,
        };

        let mut replayed = replay.take(flow).await?;
        for _ in 0..steps.partial {
            let taken = replayed.take_recorded_part().await;
            taken.map_err(|problem| failed(&place, run_id, problem.kind, &problem.text))?;
        }

        Ok(ForkPreview {
            step: origin.step,
            outcomes,
            state: replayed.state,
        })
    }
}
