//! Clients around clients, in paused time: the waits are exact and cost nothing.
// Clippy knows tests by their attribute, and so takes the helpers of a test for library code.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod budget;
mod cache;
#[cfg(feature = "cassette")]
mod cassette;
mod concurrency_limit;
mod fallback;
mod rate_limit;
mod stacks;
mod timeout;
#[cfg(feature = "tracing")]
mod tracing;

use std::time::Duration;

use cogwork_llm::{ChatRequest, ChatResponse, LlmClient, LlmError, LlmErrorKind, Message};

fn saying(text: &str) -> ChatRequest {
    ChatRequest::new([Message::user(text)])
}

fn hello() -> ChatRequest {
    saying("Hello")
}

fn fails(kind: LlmErrorKind) -> LlmError {
    LlmError::new(kind, "no luck")
}

fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

async fn ask(client: &impl LlmClient) -> Result<ChatResponse, LlmError> {
    client.complete(hello()).await
}

/// The whole of a streamed reply.
async fn follow(client: &impl LlmClient) -> Result<ChatResponse, LlmError> {
    client.stream(hello()).await?.collect().await
}
