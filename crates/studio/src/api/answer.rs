//! Delivers an answer.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::Deserialize;
use serde_json::{Value, json};

use super::Shared;
use super::extract::Body;
use crate::http::Refusal;

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
    let Answer {
        id,
        event,
        answer,
        step,
    } = given;
    let answered = shared.runner.answer(&id, &event, step.as_deref(), &answer);
    let why_not = answered.await?;
    Ok(Json(json!({
        "delivered": true,
        "resumed": why_not.is_none(),
        "why_not": why_not.map(|error| error.to_string()),
    })))
}
