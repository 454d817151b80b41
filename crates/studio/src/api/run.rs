//! One run.

use std::sync::Arc;

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use cogwork_journal::RunStatus;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::http::Refusal;
use crate::shared::Shared;
use crate::view;

/// Which run a request is about. Ids may be any text, so they aren't in the path.
#[derive(Deserialize)]
pub(super) struct Which {
    pub(super) id: String,
}

impl Which {
    pub(super) fn of(query: Result<Query<Self>, QueryRejection>) -> Result<String, Refusal> {
        let query = query.map_err(|error| Refusal::bad_request(error.body_text()))?;
        Ok(query.0.id)
    }
}

pub(super) async fn run(
    State(shared): State<Arc<Shared>>,
    which: Result<Query<Which>, QueryRejection>,
) -> Result<Json<Value>, Refusal> {
    let run_id = Which::of(which)?;
    let run = shared.find(&run_id).await?;
    let run = run.ok_or_else(Refusal::missing_run)?;

    // If this cannot be determined, resuming the run reports why.
    let is_open = matches!(run.status, RunStatus::Open | RunStatus::Failed { .. });
    let is_running = is_open && shared.store.is_in_use(&run_id).await.unwrap_or(false);
    Ok(Json(json!({
        "run": view::run(&run),
        "is_running": is_running,
        "can_resume": shared.has_flow(&run.flow),
        "can_fork": shared.flows.can_fork() && shared.has_flow(&run.flow),
    })))
}
