//! Calls to the model that a resumed run doesn't repeat.

use std::convert::Infallible;
use std::time::Duration;

use cogwork_flow::journal::{CallError, recorded};
use cogwork_llm::{ChatResponse, LlmError, LlmErrorKind};
use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use crate::ask::Rung;
use crate::ask::ladder::refuses_form;

/// The label of calls to the model in the record of a run.
const MODEL: &str = "model";
/// The label of the forms that are tried.
const FORMS: &str = "forms";

/// Returns the forms that are allowed now, or in a resumed run those that were allowed before. Which
/// calls are made depends on them, and the ladder may have learnt more in the meantime.
pub(crate) async fn record_forms(allowed: Vec<Rung>) -> Vec<Rung> {
    let forms = recorded(FORMS, || async { Ok::<_, Infallible>(allowed.clone()) });

    match forms.await {
        Ok(forms) => forms,
        Err(_) => allowed,
    }
}

/// The result of a call.
pub(crate) struct Called {
    pub(crate) result: Result<ChatResponse, LlmError>,
    /// How long the call took, if its recorded outcome was used.
    pub(crate) replayed: Duration,
}

/// Makes a call to the model. In a [composite](cogwork_flow::Node::is_composite) node of a run with
/// a journal, its outcome is recorded, or the recorded outcome is returned.
pub(crate) async fn record_call<F>(call: impl FnOnce() -> F) -> Called
where
    F: Future<Output = Result<ChatResponse, LlmError>>,
{
    let mut was_made = false;
    let outcome = recorded(MODEL, || {
        was_made = true;
        async {
            let started = Instant::now();
            let result = call().await;
            Outcome::new(result, started.elapsed())
        }
    });

    let outcome = outcome.await;
    let replayed = match &outcome {
        Ok(outcome) if !was_made => outcome.took(),
        _ => Duration::ZERO,
    };

    let result = match outcome {
        Ok(outcome) => outcome.into_result(),
        Err(CallError::Failed(error)) => Err(error),
        Err(CallError::Recorded(text)) => Err(LlmError::new(LlmErrorKind::Other, text)),
    };

    Called { result, replayed }
}

/// The recorded outcome of a call. Any other failure ends the attempt at the step.
#[derive(Serialize, Deserialize)]
struct Outcome {
    seconds: f64,
    #[serde(flatten)]
    reply: Reply,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Reply {
    Response(Box<ChatResponse>),
    /// The server refused the form of the reply, and another form was tried.
    Refusal(LlmError),
}

impl Outcome {
    fn new(result: Result<ChatResponse, LlmError>, took: Duration) -> Result<Self, LlmError> {
        let reply = match result {
            Ok(response) => Reply::Response(Box::new(response)),
            Err(error) if refuses_form(&error) => Reply::Refusal(error),
            Err(error) => return Err(error),
        };

        let seconds = took.as_secs_f64();
        Ok(Self { seconds, reply })
    }

    fn took(&self) -> Duration {
        Duration::try_from_secs_f64(self.seconds).unwrap_or_default()
    }

    fn into_result(self) -> Result<ChatResponse, LlmError> {
        match self.reply {
            Reply::Response(response) => Ok(*response),
            Reply::Refusal(error) => Err(error),
        }
    }
}
