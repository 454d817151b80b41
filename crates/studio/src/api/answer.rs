//! Delivers an answer.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use cogwork_journal::{RunStatus, RunSummary, WaitSummary};
use cogwork_text::Name;
use serde::Deserialize;
use serde_json::{Value, json};

use super::Shared;
use super::extract::Body;
use crate::http::Refusal;
use crate::schema;

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
    let run = deliver_once(&shared, &answer).await?;

    let resumed = if shared.runner.offers(&run.flow) {
        let resumed = shared.runner.resume(&run.run_id).await;
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

/// Delivers an answer if the step still waits for it. The store refuses if somebody else has the run
/// open.
async fn deliver_once(shared: &Shared, answer: &Answer) -> Result<RunSummary, Refusal> {
    let _alone = shared.delivering.lock().await;

    let run = shared.runner.find(&answer.id).await?;
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

    shared.runner.until_stopped(&answer.id).await;
    let store = shared.runner.store();
    store
        .deliver(&answer.id, &answer.event, &answer.answer)
        .await?;
    Ok(run)
}

fn waiting<'r>(run: &'r RunSummary, answer: &Answer) -> Result<&'r WaitSummary, Refusal> {
    let waits = match &run.status {
        RunStatus::Paused { waits } => waits.as_slice(),
        _ => &[],
    };
    let is_shown = |wait: &&WaitSummary| {
        let step = answer.step.as_ref();
        wait.event == answer.event && step.is_none_or(|step| *step == wait.step)
    };

    waits.iter().find(is_shown).ok_or_else(|| {
        let event = Name(&answer.event);
        Refusal::conflict(format!(
            "this step doesn't wait for `{event}` any longer: it was answered, or the run went on without an answer"
        ))
    })
}
