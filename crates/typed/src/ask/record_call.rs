//! Calls to the model that a resumed run doesn't repeat.

use std::convert::Infallible;
use std::hash::{Hash, Hasher};
use std::time::Duration;

use cogwork_flow::engine::{CallError, OutcomeSource, recorded, recorded_unless};
use cogwork_llm::{ChatRequest, ChatResponse, LlmError, LlmErrorKind};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use siphasher::sip::SipHasher13;
use tokio::time::Instant;

use crate::ask::{Format, MeteredCall};

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

/// The recorded outcome of a call.
#[derive(Serialize, Deserialize)]
struct Outcome<T> {
    seconds: f64,
    result: T,
}

/// The result of a recorded call.
#[derive(Debug)]
pub struct RecordedCall<T = Result<ChatResponse, LlmError>> {
    /// The response, or the error of the call.
    pub result: T,
    /// How long the call took, if it was made before the run was resumed.
    pub replayed: Duration,
    /// Whether an earlier attempt at the step has made the call, whose cost is counted there.
    pub is_counted: bool,
}

impl RecordedCall {
    /// Counts the tokens of the call, or takes it back if it is counted already.
    pub fn count(&self, call: MeteredCall) {
        match &self.result {
            _ if self.is_counted => call.take_back(),
            Ok(response) => call.end(response),
            Err(_) => {}
        }
    }
}

/// Makes a call to the model. In a [composite](cogwork_flow::Node::is_composite) node of a run with a
/// journal, its outcome is recorded, or the recorded one is returned. `question` is what distinguishes
/// it from other calls of the step.
pub async fn record_call<F>(question: &ChatRequest, call: impl FnOnce() -> F + Send) -> RecordedCall
where
    F: Future<Output = Result<ChatResponse, LlmError>> + Send,
{
    record(&model_label("", question), Result::is_err, call, unrecorded).await
}

/// Returns the label of a call to the model. The `name` is that of one of several questions that are
/// asked at the same time.
pub(super) fn model_label(name: &str, question: &ChatRequest) -> String {
    call_label(format!("model {name}").trim_end(), question)
}

/// Returns the result of a call to the model that couldn't be recorded.
pub(super) fn unrecorded(problem: String) -> Result<ChatResponse, LlmError> {
    Err(LlmError::new(LlmErrorKind::Other, problem))
}

/// Makes a call that is recorded, or returns its recorded result. `label` is what distinguishes it
/// from other calls of the step. A result that `has_failed` is made again if the step fails then, and
/// `unrecorded` makes a result of the reason why it couldn't be recorded.
pub(super) async fn record<T, F>(
    label: &str,
    has_failed: impl FnOnce(&T) -> bool + Send,
    call: impl FnOnce() -> F + Send,
    unrecorded: impl FnOnce(String) -> T + Send,
) -> RecordedCall<T>
where
    T: Serialize + DeserializeOwned + Send,
    F: Future<Output = T> + Send,
{
    let has_failed = move |outcome: &Outcome<T>| has_failed(&outcome.result);
    let outcome = recorded_unless(label, has_failed, || async {
        let started = Instant::now();
        let result = call().await;
        let seconds = started.elapsed().as_secs_f64();
        // What becomes of an error depends on its kind, so that errors are recorded, too.
        Ok::<_, Infallible>(Outcome { seconds, result })
    });

    let (outcome, source) = outcome.await;
    let Outcome { seconds, result } = outcome.unwrap_or_else(|error| match error {
        CallError::Failed(never) => match never {},
        CallError::Recorded(text) => Outcome {
            seconds: 0.0,
            result: unrecorded(text),
        },
    });
    let took = Duration::try_from_secs_f64(seconds).unwrap_or_default();
    let replayed = match source {
        OutcomeSource::Record => took,
        // The meter has measured it.
        OutcomeSource::Made | OutcomeSource::Attempt => Duration::ZERO,
    };
    RecordedCall {
        result,
        replayed,
        is_counted: source == OutcomeSource::Attempt,
    }
}
