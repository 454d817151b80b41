//! Clients around clients, in paused time: the waits are exact and cost nothing.
// Clippy knows tests by their attribute, and so takes the helpers of a test for library code.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

mod budget;
mod cache;
mod cassette;
mod concurrency_limit;
mod fallback;
mod rate_limit;
mod retry;
mod stacks;
mod timeout;
mod tracing;

use std::time::Duration;

use cogwork_llm::{
    Block, ChatRequest, ChatResponse, FinishReason, LlmClient, LlmError, LlmErrorKind, Message,
    ToolCall, ToolChoice, ToolDefinition,
};

pub(crate) fn saying(text: &str) -> ChatRequest {
    ChatRequest::new([Message::user(text)])
}

pub(crate) fn hello() -> ChatRequest {
    saying("Hello")
}

pub(crate) fn weather(city: &str) -> ToolCall {
    ToolCall::new("call_1", "weather", format!("{{\"city\": \"{city}\"}}"))
}

/// A conversation with everything in it that is not text.
fn with_tools() -> ChatRequest {
    let image = Block::image("image/png", "iVBORw0KGgo=");
    ChatRequest::new([
        Message::user("Where is this, and does it rain?").with_blocks([image]),
        Message::assistant("Let me see.").with_tool_calls([weather("Bergen")]),
        Message::tool_failure(&weather("Bergen"), "no connection"),
    ])
    .with_tools([ToolDefinition::new(
        "weather",
        "The weather in a city.",
        r#"{"type": "object"}"#,
    )])
    .with_tool_choice(ToolChoice::Required)
}

/// A reply that asks for a call.
fn asks() -> ChatResponse {
    ChatResponse::new("Again.")
        .with_tool_calls([weather("Bergen")])
        .with_finish_reason(FinishReason::ToolCalls)
}

pub(crate) fn fails(kind: LlmErrorKind) -> LlmError {
    LlmError::new(kind, "no luck")
}

pub(crate) fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

async fn ask(client: &impl LlmClient) -> Result<ChatResponse, LlmError> {
    client.complete(hello()).await
}

/// The whole of a streamed reply.
pub(crate) async fn follow(client: &impl LlmClient) -> Result<ChatResponse, LlmError> {
    client.stream(hello()).await?.collect().await
}

/// The outcome of a call, which is the same streamed and not.
async fn both(client: &impl LlmClient) -> Result<ChatResponse, LlmError> {
    let [whole, streamed] = [ask(client).await, follow(client).await];
    assert_eq!(format!("{whole:?}"), format!("{streamed:?}"));
    whole
}
