//! Delivers an answer.

use std::sync::Arc;

use axum::extract::State;
use axum::{Extension, Json};
use serde::Deserialize;
use serde_json::{Value, json};

use super::extract::Body;
use super::{Shared, View};
use crate::http::Refusal;
use crate::{FlowError, view};

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
    Extension(view): Extension<View>,
    Body(given): Body<Answer>,
) -> Result<Json<Value>, Refusal> {
    let Answer {
        id,
        event,
        answer,
        step,
    } = given;
    let answered = shared.runner.answer(&id, &event, step.as_deref(), &answer);
    let why_not = answered.await.map_err(|error| match error {
        // It may quote what was said.
        FlowError::HasFailed(text) if view::error(&text, view).is_none() => {
            FlowError::HasFailed("the error isn't shown here".to_owned())
        }
        error => error,
    })?;
    Ok(Json(json!({
        "delivered": true,
        "resumed": why_not.is_none(),
        "why_not": why_not.map(|error| error.to_string()),
    })))
}
