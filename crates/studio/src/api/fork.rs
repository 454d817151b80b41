//! Forks runs.

use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::HeaderMap;
use cogwork_journal::RunSummary;
use serde::Deserialize;
use serde_json::{Value, json};

use super::body;
use crate::http::Refusal;
use crate::shared::Shared;
use crate::{ForkChoices, ForkRequest};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Forked {
    id: String,
    fork: ForkRequest,
}

/// Where a run is forked.
#[derive(Deserialize)]
pub(super) struct At {
    id: String,
    at: u64,
}

pub(super) async fn choices(
    State(shared): State<Arc<Shared>>,
    at: Result<Query<At>, QueryRejection>,
) -> Result<Json<ForkChoices>, Refusal> {
    let Query(At { id, at }) = at.map_err(|error| Refusal::bad_request(error.body_text()))?;
    let run = find(&shared, &id).await?;
    let flows = &shared.flows;
    let choices = flows.fork_choices(&shared.store, &run.flow, &id, at);
    Ok(Json(choices.await?))
}

pub(super) async fn fork(
    State(shared): State<Arc<Shared>>,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<Value>, Refusal> {
    let Forked { id, fork } = body::read(&headers, body).await?;
    let run = find(&shared, &id).await?;
    let flows = &shared.flows;
    let started = flows.fork(&shared.store, &run.flow, &id, &fork).await?;
    Ok(Json(json!({"run": started, "forked_from": id})))
}

async fn find(shared: &Shared, id: &str) -> Result<RunSummary, Refusal> {
    let run = shared.find(id).await?;
    run.ok_or_else(Refusal::missing_run)
}
