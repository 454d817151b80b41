//! Calls to the model that a resumed run doesn't repeat.

use std::convert::Infallible;
use std::hash::{Hash, Hasher};
use std::time::Duration;

use cogwork_flow::journal::{CallError, recorded};
use cogwork_llm::{ChatRequest, ChatResponse, LlmError, LlmErrorKind};
use serde::{Deserialize, Serialize};
use siphasher::sip::SipHasher13;
use tokio::time::Instant;

use crate::ask::Format;

/// Returns the label of a recorded call: what is called, and a hash of its input.
///
/// A resumed run may ask something else, or may get the replies to questions that were asked at the
/// same time in another order. No question must get the reply to another one then.
pub fn call_label(what: &str, input: &impl Hash) -> String {
    // The hash is recorded, so it must not depend on the version of the standard library.
    let mut hasher = SipHasher13::new();
    input.hash(&mut hasher);

    format!("{what} {:016x}", hasher.finish())
}

/// Returns the conversation of a request. The settings are not part of the question: the limits of
/// the run change them.
pub(super) fn conversation(request: &ChatRequest) -> ChatRequest {
    ChatRequest::from(request.messages().clone())
}

/// Returns the formats that are allowed now, or in a resumed run those that were allowed before. Which
/// calls are made depends on them, and the server may have refused more in the meantime.
pub(super) async fn record_formats(question: &ChatRequest, allowed: Vec<Format>) -> Vec<Format> {
    let label = call_label("formats", question);
    let recorded = recorded(&label, || async { Ok::<_, Infallible>(allowed.clone()) });
    recorded.await.unwrap_or(allowed)
}

/// The result of a recorded call.
#[derive(Debug)]
pub struct RecordedCall {
    /// The response, or the error of the call.
    pub result: Result<ChatResponse, LlmError>,
    /// How long the call took, if its recorded outcome was used.
    pub replayed: Option<Duration>,
}

/// The recorded outcome of a call. What becomes of an error depends on its kind.
#[derive(Serialize, Deserialize)]
struct Outcome {
    seconds: f64,
    result: Result<ChatResponse, LlmError>,
}

/// Makes a call to the model. In a [composite](cogwork_flow::Node::is_composite) node of a run with
/// a journal, its outcome is recorded, or the recorded outcome is returned. `question` is what
/// distinguishes it from other calls of the step.
pub async fn record_call<F>(question: &ChatRequest, call: impl FnOnce() -> F + Send) -> RecordedCall
where
    F: Future<Output = Result<ChatResponse, LlmError>> + Send,
{
    record_named("", question, call).await
}

/// Like [`record_call`], for one of several questions that are asked at the same time. Its `name` is
/// a part of the label.
pub(super) async fn record_named<F>(
    name: &str,
    question: &ChatRequest,
    call: impl FnOnce() -> F + Send,
) -> RecordedCall
where
    F: Future<Output = Result<ChatResponse, LlmError>> + Send,
{
    let mut was_made = false;
    let label = call_label(format!("model {name}").trim_end(), question);
    let outcome = recorded(&label, || {
        was_made = true;
        async {
            let started = Instant::now();
            let result = call().await;
            let seconds = started.elapsed().as_secs_f64();
            Ok::<_, Infallible>(Outcome { seconds, result })
        }
    });

    match outcome.await {
        Ok(Outcome { seconds, result }) => RecordedCall {
            result,
            replayed: (!was_made).then(|| Duration::try_from_secs_f64(seconds).unwrap_or_default()),
        },
        Err(CallError::Failed(never)) => match never {},
        Err(CallError::Recorded(text)) => RecordedCall {
            result: Err(LlmError::new(LlmErrorKind::Other, text)),
            replayed: Some(Duration::ZERO),
        },
    }
}
