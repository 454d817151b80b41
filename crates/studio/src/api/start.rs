//! Starts and resumes flows.

use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::HeaderMap;
use serde::Deserialize;
use serde_json::{Value, json};

use super::body;
use super::run::Which;
use crate::http::Refusal;
use crate::shared::Shared;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Start {
    flow: String,
    #[serde(default)]
    input: String,
}

pub(super) async fn flows(State(shared): State<Arc<Shared>>) -> Json<Value> {
    Json(json!({"flows": shared.flows.names()}))
}

pub(super) async fn start(
    State(shared): State<Arc<Shared>>,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<Value>, Refusal> {
    let start: Start = body::read(&headers, body).await?;
    let flows = &shared.flows;
    let run_id = flows
        .start(&shared.store, &start.flow, &start.input)
        .await?;
    Ok(Json(json!({"run": run_id})))
}

pub(super) async fn resume(
    State(shared): State<Arc<Shared>>,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<Value>, Refusal> {
    let Which { id } = body::read(&headers, body).await?;
    let run = shared.find(&id).await?;
    let run = run.ok_or_else(Refusal::missing_run)?;
    shared.flows.resume(&shared.store, &run.flow, &id).await?;
    Ok(Json(json!({"run": id})))
}
