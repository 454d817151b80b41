use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use crate::{ChatRequest, LlmError, LlmErrorKind, Messages};

/// Fields that settings add to every request.
pub(super) type Extra = BTreeMap<String, Value>;

/// Fields that `extra` must not set: a streamed answer could not be read.
pub(super) const RESERVED: [&str; 3] = ["model", "messages", "stream"];

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    messages: &'a Messages,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<u64>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    stop: &'a [String],
    #[serde(flatten)]
    extra: BTreeMap<&'a str, &'a Value>,
}

/// The JSON of a request. What the request sets goes before the same field in `extra`, which so
/// serves as a default.
pub(super) fn encode(model: &str, request: &ChatRequest, extra: &Extra) -> Result<Vec<u8>, LlmError> {
    // JSON has no word for these; serde_json would write null, and the server use its own default.
    if let Some(temperature) = request.temperature().filter(|temperature| !temperature.is_finite()) {
        let message = format!("the temperature is {temperature}; expected a finite number");
        return Err(LlmError::new(LlmErrorKind::InvalidRequest, message));
    }
    let taken = |name: &str| match name {
        "max_tokens" => request.max_tokens().is_some(),
        "temperature" => request.temperature().is_some(),
        "seed" => request.seed().is_some(),
        "stop" => !request.stop().is_empty(),
        _ => false,
    };
    let body = Body {
        model,
        messages: request.messages(),
        max_tokens: request.max_tokens(),
        temperature: request.temperature(),
        seed: request.seed(),
        stop: request.stop(),
        extra: extra
            .iter()
            .map(|(name, value)| (name.as_str(), value))
            .filter(|(name, _)| !taken(name))
            .collect(),
    };
    serde_json::to_vec(&body).map_err(|error| {
        LlmError::new(LlmErrorKind::InvalidRequest, "the request does not go into JSON").with_source(error)
    })
}
