//! The one trait a language model stands behind, and what surrounds a call.
//!
//! ```text
//! async fn complete(&self, request: ChatRequest) -> Result<ChatResponse, LlmError>
//! ```
//!
//! A backend of your own is ten lines:
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
//! ```

mod client;
pub use client::LlmClient;

mod message;
pub use message::{Message, Messages, Role};

mod request;
pub use request::ChatRequest;

mod response;
pub use response::{ChatResponse, FinishReason, Usage};

mod error;
pub use error::{LlmError, LlmErrorKind};

mod retry;
pub use cogwork_backoff::Backoff;
pub use retry::Retry;

mod scripted;
pub use scripted::{ScriptedClient, ScriptedReply};

pub use async_trait::async_trait;
