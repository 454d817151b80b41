//! Calls to the model that a resumed run doesn't repeat.

use std::convert::Infallible;
use std::fmt::Write;
use std::hash::{Hash, Hasher};
use std::time::Duration;

use cogwork_flow::journal::{CallError, recorded};
use cogwork_llm::{ChatRequest, ChatResponse, LlmError, LlmErrorKind};
use serde::{Deserialize, Serialize};
use siphasher::sip::SipHasher13;
use tokio::time::Instant;

use crate::ask::Rung;

/// Returns the label of a recorded call: what is called, and a hash of its input.
///
/// A resumed run may ask something else, or may get the replies to questions that were asked at the
/// same time in another order. No question must get the reply to another one then.
pub fn call_label(what: &str, input: &impl Hash) -> String {
    // The hash is recorded, so it must not depend on the version of the standard library.
    let mut hasher = SipHasher13::new();
    input.hash(&mut hasher);

    let mut label = what.to_owned();
    let _ = write!(label, " {:016x}", hasher.finish());
    label
}

/// Returns the conversation of a request. The settings are not part of the question: the limits of
/// the run change them.
pub(crate) fn conversation(request: &ChatRequest) -> ChatRequest {
    ChatRequest::from(request.messages().clone())
}

/// Returns the forms that are allowed now, or in a resumed run those that were allowed before. Which
/// calls are made depends on them, and the ladder may have learnt more in the meantime.
pub(crate) async fn record_forms(question: &ChatRequest, allowed: Vec<Rung>) -> Vec<Rung> {
    let label = call_label("forms", question);
    let forms = recorded(&label, || async { Ok::<_, Infallible>(allowed.clone()) });

    match forms.await {
        Ok(forms) => forms,
        Err(_) => allowed,
    }
}

/// The result of a recorded call.
#[derive(Debug)]
pub struct RecordedCall {
    /// The response, or the error of the call.
    pub result: Result<ChatResponse, LlmError>,
    /// How long the call took, if its recorded outcome was used.
    pub replayed: Option<Duration>,
}

/// Makes a call to the model. In a [composite](cogwork_flow::Node::is_composite) node of a run with
/// a journal, its outcome is recorded, or the recorded outcome is returned. `question` is what
/// distinguishes it from other calls of the step.
pub async fn record_call<F>(question: &ChatRequest, call: impl FnOnce() -> F + Send) -> RecordedCall
where
    F: Future<Output = Result<ChatResponse, LlmError>> + Send,
{
    let mut was_made = false;
    let label = call_label("model", question);
    let outcome = recorded(&label, || {
        was_made = true;
        async {
            let started = Instant::now();
            let reply = call().await.map_or_else(Reply::Error, Reply::Response);
            let seconds = started.elapsed().as_secs_f64();
            Ok::<_, Infallible>(Outcome { seconds, reply })
        }
    });

    match outcome.await {
        Ok(Outcome { seconds, reply }) => RecordedCall {
            result: match reply {
                Reply::Response(response) => Ok(response),
                Reply::Error(error) => Err(error),
            },
            replayed: (!was_made).then(|| Duration::try_from_secs_f64(seconds).unwrap_or_default()),
        },
        Err(CallError::Failed(never)) => match never {},
        Err(CallError::Recorded(text)) => RecordedCall {
            result: Err(LlmError::new(LlmErrorKind::Other, text)),
            replayed: Some(Duration::ZERO),
        },
    }
}

/// The recorded outcome of a call. What becomes of an error depends on its kind.
#[derive(Serialize, Deserialize)]
struct Outcome {
    seconds: f64,
    #[serde(flatten)]
    reply: Reply,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(clippy::large_enum_variant, reason = "there is one at a time")]
enum Reply {
    Response(ChatResponse),
    Error(LlmError),
}
