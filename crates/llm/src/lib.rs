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
//! | responses | [`ChatResponse`], [`FinishReason`], [`Usage`], [`Adjustment`], [`LlmError`] |
//! | thinking | [`Effort`], [`ProviderData`] |
//! | streaming | [`LlmClient::stream`], [`ReplyStream`], [`Delta`] |
//! | what a client supports | [`LlmClient::capabilities`], [`Capabilities`] |
//! | servers over HTTP (feature `rustls`, on by default) | `OpenAiClient`, `AnthropicClient`, `OllamaClient` |
//! | retries and fallbacks | [`Retry`] with a [`Backoff`], [`Fallback`] |
//! | limits on time, rate, concurrency and cost | [`Timeout`], [`RateLimit`], [`ConcurrencyLimit`], [`Budget`] |
//! | caching | [`Cache`] |
//! | spans for OpenTelemetry | [`Tracing`] |
//! | recording and replaying calls | [`Recorder`], [`Replay`] |
//! | embeddings | [`Embedder`], [`Embeddings`], [`HashedNgrams`]; over HTTP `OpenAiEmbedder` |
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

mod client;
pub use client::{Capabilities, Capability, LlmClient};

mod message;
pub use message::{Block, Message, Role, ToolCall, ToolChoice, ToolDefinition};

mod messages;
pub use messages::Messages;

mod request;
pub use request::{ChatRequest, Effort, ReplyFormat};

mod response;
pub use response::{Adjustment, ChatResponse, FinishReason, ProviderData, Usage};

mod response_limits;
pub use response_limits::{ResponseLimits, ResponseTooLarge};

mod thinking;
pub use thinking::{SplitThinking, split_thinking};

mod stream;
pub use stream::{Delta, ReplyStream};

mod error;
pub use error::{LlmError, LlmErrorKind};

mod embedding;
pub use embedding::{Embedder, Embeddings, HashedNgrams};

mod retry;
pub use cogwork_text::Backoff;
pub use retry::Retry;

mod timeout;
pub use timeout::Timeout;

mod rate_limit;
pub use rate_limit::RateLimit;

mod concurrency_limit;
pub use concurrency_limit::ConcurrencyLimit;

mod fallback;
pub use fallback::Fallback;

mod budget;
pub use budget::{Budget, Price, Prices, Spending};

mod cache;
pub use cache::Cache;

mod cassette;
pub use cassette::{Recorder, Replay};

mod tracing;
pub use tracing::Tracing;

mod estimate;
mod locked;
mod reply;

mod scripted;
pub use scripted::{ScriptedClient, ScriptedReply};

#[cfg(feature = "http")]
mod http;
#[cfg(feature = "http")]
pub use http::HttpClientBuilder;
#[cfg(feature = "http")]
#[doc(hidden)]
pub use http::http_client;

#[cfg(feature = "http")]
mod wire;

#[cfg(feature = "http")]
mod openai;
#[cfg(feature = "http")]
pub use openai::{
    OpenAiApi, OpenAiClient, OpenAiClientBuilder, OpenAiEmbedder, OpenAiEmbedderBuilder,
};

#[cfg(feature = "http")]
mod anthropic;
#[cfg(feature = "http")]
pub use anthropic::{AnthropicClient, AnthropicClientBuilder};

#[cfg(feature = "http")]
mod ollama;
#[cfg(feature = "http")]
pub use ollama::{OllamaClient, OllamaClientBuilder};

pub use async_trait::async_trait;

/// The code in the README, compiled and run as a doctest.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
