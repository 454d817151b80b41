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
    Body(answer): Body<Answer>,
) -> Result<Json<Value>, Refusal> {
    let Answer {
        id,
        event,
        answer,
        step,
    } = answer;
    let runner = &shared.runner;
    let run = runner
        .deliver(&id, &event, step.as_deref(), &answer)
        .await?;

    let resumed = if runner.offers(&run.flow) {
        let resumed = runner.resume(&run.run_id).await;
        resumed.map_err(|error| error.to_string())
    } else {
        Err(
            "no flow with this name is offered here; the program that runs it has to resume it"
                .to_owned(),
        )
    };

    Ok(Json(json!({
        "delivered": true,
        "resumed": resumed.is_ok(),
        "why_not": resumed.err(),
    })))
}
