//! A trait for language models, clients that implement it, and wrappers around a call.
//!
//! ```text
//! async fn complete(&self, request: ChatRequest) -> Result<ChatResponse, LlmError>
//! async fn stream(&self, request: ChatRequest) -> Result<ReplyStream, LlmError>    // by default: the whole reply as one piece
//! ```
//!
//! A custom backend takes ten lines:
//!
//! ```
//! use cogwork_llm::{ChatRequest, ChatResponse, LlmClient, LlmError, async_trait};
//!
//! /// Answers every request with its last message, in capitals.
//! struct Shouter;
//!
//! #[async_trait]
//! impl LlmClient for Shouter {
//!     async fn complete(&self, request: ChatRequest) -> Result<ChatResponse, LlmError> {
//!         let last = request.messages().last().map_or("", |message| message.text());
//!         Ok(ChatResponse::new(last.to_uppercase()))
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), LlmError> {
//! use cogwork_llm::Message;
//!
//! let response = Shouter.complete(ChatRequest::new([Message::user("hello")])).await?;
//! assert_eq!(response.text(), "HELLO");
//! # Ok(())
//! # }
//! ```
//!
//! # Map
//!
//! | for | see |
//! |---|---|
//! | the trait that backends implement and programs call | [`LlmClient`] |
//! | requests | [`ChatRequest`], [`Messages`], [`Message`], [`Block`], [`ReplyFormat`] |
//! | tools that the model may call | [`ToolDefinition`], [`ToolChoice`], [`ToolCall`], [`Message::tool_result`] |
//! | responses | [`ChatResponse`], [`FinishReason`], [`Usage`], [`Adjustment`](backend::Adjustment), [`LlmError`] |
//! | thinking | [`Effort`], [`ProviderData`](backend::ProviderData) |
//! | streaming | [`LlmClient::stream`], [`ReplyStream`], [`Delta`] |
//! | what a client supports | [`LlmClient::capabilities`], [`Capabilities`](backend::Capabilities) |
//! | servers over HTTP (feature `rustls`, on by default) | `OpenAiClient`, `AnthropicClient`, `OllamaClient` |
//! | retries and fallbacks | [`Retry`](layers::Retry) with a [`Backoff`](layers::Backoff), [`Fallback`](layers::Fallback) |
//! | limits on time, rate, concurrency and cost | [`Timeout`](layers::Timeout), [`RateLimit`](layers::RateLimit), [`ConcurrencyLimit`](layers::ConcurrencyLimit), [`Budget`](layers::Budget) |
//! | caching | [`Cache`](layers::Cache) |
//! | spans for OpenTelemetry | [`Tracing`](layers::Tracing) |
//! | recording and replaying calls | [`Recorder`](layers::Recorder), [`Replay`](layers::Replay) |
//! | embeddings | [`Embedder`](embedding::Embedder), [`Embeddings`](embedding::Embeddings), [`HashedNgrams`](embedding::HashedNgrams); over HTTP `OpenAiEmbedder` |
//! | tests | [`ScriptedClient`], or a mock: the trait works with `mockall` |
//!
//! Requests are passed by value and share their text. Cloning a request, or sending a conversation
//! that grows by one message each time, copies no text.
//!
//! Three features select how connections are encrypted: `rustls` (the default, with ring and the
//! system's certificates), `native-tls` (the system's library; if both are enabled, rustls is
//! used), or `http` alone, without TLS. Without default features, the crate depends on no HTTP or
//! TLS library.

#![cfg_attr(docsrs, feature(doc_cfg))]

mod adjustment;
mod block;
mod client;
mod error;
mod locked;
mod message;
mod messages;
mod provider_data;
mod request;
mod response;
mod response_limits;
mod scripted;
mod split_thinking;
mod stream;
mod token_estimate;
mod tool;

#[cfg(feature = "http")]
mod anthropic;
#[cfg(feature = "http")]
mod ollama;
#[cfg(feature = "http")]
mod openai;
#[cfg(feature = "http")]
mod wire;

pub mod embedding;
#[cfg(feature = "http")]
pub mod http;
pub mod layers;

pub use block::Block;
pub use client::LlmClient;
pub use error::{LlmError, LlmErrorKind};
pub use message::{Message, Role};
pub use messages::Messages;
pub use request::{ChatRequest, Effort, ReplyFormat};
pub use response::{ChatResponse, FinishReason, Usage};
pub use scripted::{ScriptedClient, ScriptedReply};
pub use stream::{Delta, ReplyStream};
pub use tool::{ToolCall, ToolChoice, ToolDefinition};

#[cfg(feature = "http")]
pub use anthropic::AnthropicClient;
#[cfg(feature = "http")]
pub use ollama::OllamaClient;
#[cfg(feature = "http")]
pub use openai::OpenAiClient;

pub use async_trait::async_trait;

/// What backends need beyond the trait: capabilities, limits on responses, and parts of replies.
pub mod backend {
    pub use crate::adjustment::Adjustment;
    pub use crate::client::{Capabilities, Capability};
    pub use crate::provider_data::ProviderData;
    pub use crate::response_limits::{ResponseLimits, ResponseTooLarge};
    pub use crate::split_thinking::{SplitThinking, split_thinking};
}

/// The code in the README, compiled and run as a doctest.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
