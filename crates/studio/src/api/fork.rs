//! Forks runs.

use std::sync::Arc;

use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::{Extension, Json};
use serde::Deserialize;
use serde_json::{Value, json};

use super::body::Body;
use super::{Shared, View};
use crate::fork::{ForkChoices, ForkRequest};
use crate::http::Refusal;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Forked {
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
    Extension(view): Extension<View>,
    at: Result<Query<At>, QueryRejection>,
) -> Result<Json<ForkChoices>, Refusal> {
    check(view)?;
    let Query(At { id, at }) = at?;
    Ok(Json(shared.runner.fork_choices(&id, at).await?))
}

pub(super) async fn fork(
    State(shared): State<Arc<Shared>>,
    Extension(view): Extension<View>,
    Body(Forked { id, fork }): Body<Forked>,
) -> Result<Json<Value>, Refusal> {
    check(view)?;
    let started = shared.runner.fork(&id, &fork).await?;
    Ok(Json(json!({"run": started, "forked_from": id})))
}

/// Forks show and change what was said.
fn check(view: View) -> Result<(), Refusal> {
    match view {
        View::Full => Ok(()),
        View::Public => Err(Refusal::forbidden("forks need the full view")),
    }
}
