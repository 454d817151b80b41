//! Delivers an answer.

use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use cogwork_journal::{RunStatus, RunSummary, WaitSummary};
use cogwork_text::Name;
use serde::Deserialize;
use serde_json::{Value, json};

use super::body;
use crate::http::Refusal;
use crate::schema;
use crate::shared::Shared;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Answer {
    run: String,
    /// The step that was shown as waiting, so that an answer isn't used for a later question.
    step: String,
    event: String,
    answer: Value,
}

pub(super) async fn deliver(
    State(shared): State<Arc<Shared>>,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<Value>, Refusal> {
    let answer: Answer = body::read(&headers, body).await?;
    let run = deliver_once(&shared, &answer).await?;

    let resumed = if shared.has_flow(&run.flow) {
        let resumed = shared.flows.resume(&shared.store, &run.flow, &run.run_id);
        resumed.await.map_err(|error| error.to_string())
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

/// Delivers an answer if the step still waits for it. The store refuses if somebody else has the run
/// open.
async fn deliver_once(shared: &Shared, answer: &Answer) -> Result<RunSummary, Refusal> {
    let _alone = shared.delivering.lock().await;

    let run = shared.find(&answer.run).await?;
    let run = run.ok_or_else(Refusal::missing_run)?;
    let wait = waiting(&run, answer)?;

    // One that cannot be read is that of a record that was edited.
    let schema = wait.schema.as_ref();
    let schema = schema.and_then(|schema| schema.read::<Value>().ok());
    if let Some(schema) = &schema {
        schema::check(schema, &answer.answer).map_err(|problem| {
            let message = format!("the answer doesn't match its schema: {problem}");
            Refusal::new(StatusCode::UNPROCESSABLE_ENTITY, message)
        })?;
    }

    let store = &shared.store;
    store
        .deliver(&answer.run, &answer.event, &answer.answer)
        .await?;
    Ok(run)
}

fn waiting<'r>(run: &'r RunSummary, answer: &Answer) -> Result<&'r WaitSummary, Refusal> {
    let waits = match &run.status {
        RunStatus::Paused { waits } => waits.as_slice(),
        _ => &[],
    };
    let mut waits = waits.iter();
    let wait = waits.find(|wait| wait.step == answer.step && wait.event == answer.event);

    wait.ok_or_else(|| {
        let event = Name(&answer.event);
        Refusal::conflict(format!(
            "this step doesn't wait for `{event}` any longer: it was answered, or the run went on without an answer"
        ))
    })
}
