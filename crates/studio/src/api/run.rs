//! Flows, and one run.

use std::sync::Arc;

use axum::extract::State;
use axum::{Extension, Json};
use cogwork_journal::RunStatus;
use serde::Deserialize;
use serde_json::{Value, json};

use super::extract::{Body, Params};
use super::{Shared, View};
use crate::FlowError;
use crate::http::Refusal;
use crate::view;

/// Which run a request is about. Ids may be any text, so they aren't in the path.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Which {
    id: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Start {
    flow: String,
    #[serde(default)]
    input: Value,
    id: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Fork {
    id: String,
    at: u64,
}

pub(super) async fn flows(State(shared): State<Arc<Shared>>) -> Json<Value> {
    Json(json!({"flows": shared.runner.flows()}))
}

pub(super) async fn start(
    State(shared): State<Arc<Shared>>,
    Body(start): Body<Start>,
) -> Result<Json<Value>, Refusal> {
    let Start { flow, input, id } = start;
    let run_id = shared.runner.start(&flow, input, id.as_deref()).await?;
    Ok(Json(json!({"run": run_id})))
}

pub(super) async fn resume(
    State(shared): State<Arc<Shared>>,
    Body(Which { id }): Body<Which>,
) -> Result<Json<Value>, Refusal> {
    let run = shared.runner.find(&id).await?;
    if let RunStatus::Ended { .. } = run.status {
        let totals = shared.totals.update(shared.runner.store(), &run).await;
        // Only to record an answer that a crash has lost.
        if totals.is_none_or(|totals| totals.answer.is_some()) {
            return Err(FlowError::Ended.into());
        }
    }
    shared.runner.resume(&id).await?;
    Ok(Json(json!({"run": id})))
}

pub(super) async fn cancel(
    State(shared): State<Arc<Shared>>,
    Body(Which { id }): Body<Which>,
) -> Result<Json<Value>, Refusal> {
    shared.runner.cancel(&id).await?;
    Ok(Json(json!({"run": id})))
}

pub(super) async fn run(
    State(shared): State<Arc<Shared>>,
    Extension(view): Extension<View>,
    Params(Which { id }): Params<Which>,
) -> Result<Json<Value>, Refusal> {
    let runner = &shared.runner;
    let run = runner.find(&id).await?;
    let totals = shared.totals.update(runner.store(), &run).await;

    // If this cannot be determined, resuming the run reports why.
    let is_open = matches!(
        run.status,
        RunStatus::Open { .. } | RunStatus::Failed { .. }
    );
    let is_running =
        runner.is_running(&id) || is_open && runner.store().is_in_use(&id).await.unwrap_or(false);
    let is_offered = runner.offers(&run.flow);
    Ok(Json(json!({
        "run": view::run(&run, totals.as_ref(), view),
        "is_running": is_running,
        "can_resume": is_offered,
        "can_fork": is_offered && view == View::Full,
    })))
}

pub(super) async fn fork(
    State(shared): State<Arc<Shared>>,
    Extension(view): Extension<View>,
    Body(Fork { id, at }): Body<Fork>,
) -> Result<Json<Value>, Refusal> {
    if view != View::Full {
        return Err(Refusal::forbidden("forks need the full view"));
    }

    let started = shared.runner.fork(&id, at).await?;
    Ok(Json(json!({"run": started, "forked_from": id})))
}
