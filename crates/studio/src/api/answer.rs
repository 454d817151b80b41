//! Delivers an answer.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::Deserialize;
use serde_json::{Value, json};

use super::Shared;
use super::extract::Body;
use crate::http::Refusal;

/// Why a run isn't resumed after its answer.
const NOT_OFFERED: &str =
    "no flow with this name is offered here; the program that runs it has to resume it";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Answer {
    id: String,
    event: String,
    answer: Value,
    /// The step that was shown as waiting, so that an answer isn't used for a later question.
    step: Option<String>,
}

pub(super) async fn deliver(
    State(shared): State<Arc<Shared>>,
    Body(given): Body<Answer>,
) -> Result<Json<Value>, Refusal> {
    let runner = &shared.runner;
    let step = given.step.as_deref();
    let run = runner
        .deliver(&given.id, &given.event, step, &given.answer)
        .await?;

    let resumed = match run {
        None => Ok(()),
        Some(run) if runner.offers(&run.flow) => runner
            .resume(&run.run_id)
            .await
            .map_err(|error| error.to_string()),
        Some(_) => Err(NOT_OFFERED.to_owned()),
    };
    Ok(Json(json!({
        "delivered": true,
        "resumed": resumed.is_ok(),
        "why_not": resumed.err(),
    })))
}
