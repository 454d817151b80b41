//! The client of OpenAI-compatible servers. One room for each part of a call: the settings before
//! it, the body that is sent, the exchange, the reading of a reply, the reading of a failure, and
//! what of a server's words may be shown.

use std::fmt;

use async_trait::async_trait;

use crate::{ChatRequest, ChatResponse, LlmClient, LlmError};

mod settings;
pub use settings::OpenAiClientBuilder;

mod base_url;
mod body;
mod excerpt;
mod exchange;
mod failure;
mod reply;
mod retry_after;

/// A client of any server that speaks OpenAI's chat completions: OpenAI, llama.cpp, Ollama, vLLM,
/// LM Studio, OpenRouter and many more.
///
/// It sends the whole conversation in one `POST` to `{base URL}/chat/completions` and waits for
/// the whole reply. It is lenient in what it reads: content as text, as parts or absent, finish
/// reasons in other servers' words, usage in part or not at all, fields it does not know. It follows no redirect,
/// and it does not try again: put a [`Retry`](crate::Retry) around it.
///
/// The key goes into the `Authorization` header and nowhere else. Where it stands in another
/// setting, as in the path of a base URL, or a server's answer repeats it, `Debug` and errors show
/// `[redacted]`.
///
/// Connections are encrypted with rustls and checked against the system's certificates. Proxies
/// named by the environment (`HTTPS_PROXY`, `NO_PROXY`, …) are used, except for a server on this
/// machine.
///
/// ```
/// use std::time::Duration;
/// use cogwork_llm::{Backoff, ChatRequest, LlmClient, LlmError, Message, OpenAiClient, Retry};
///
/// async fn greet() -> Result<String, LlmError> {
///     let client = OpenAiClient::builder("http://localhost:8080/v1", "qwen3-4b")
///         .timeout(Duration::from_secs(300))
///         .extra("top_k", 20)
///         .build()?;
///     let client = Retry::new(client, Backoff::default());
///     let response = client.complete(ChatRequest::new([Message::user("Hello!")])).await?;
///     Ok(response.into_text())
/// }
/// ```
pub struct OpenAiClient {
    base_url: String,
    model: String,
    extra: body::Extra,
    exchange: exchange::Exchange,
}

impl OpenAiClient {
    /// Begins the settings of a client.
    ///
    /// `base_url` is what goes before `/chat/completions`, as in `https://api.openai.com/v1`;
    /// `model` is the server's name of the model. [`build`](OpenAiClientBuilder::build) checks
    /// both.
    pub fn builder(base_url: impl Into<String>, model: impl Into<String>) -> OpenAiClientBuilder {
        OpenAiClientBuilder::new(base_url.into(), model.into())
    }

    /// A client with the settings that the environment names. See
    /// [`OpenAiClientBuilder::from_env`] for the variables.
    ///
    /// # Errors
    ///
    /// Of kind [`Settings`](crate::LlmErrorKind::Settings), naming the variable that is missing
    /// or wrong.
    pub fn from_env() -> Result<Self, LlmError> {
        OpenAiClientBuilder::from_env()?.build()
    }
}

#[async_trait]
impl LlmClient for OpenAiClient {
    /// # Errors
    ///
    /// | what happens | [kind](crate::LlmErrorKind) |
    /// |---|---|
    /// | status 401, 403 | `Authentication` |
    /// | status 402, code `insufficient_quota` | `Quota` |
    /// | status 429, with the wait of `Retry-After` | `RateLimit` |
    /// | status 503, 529 | `Overloaded` |
    /// | status 408, 504; no connection or no whole answer in time | `Timeout` |
    /// | another status from 500 | `Server` |
    /// | no connection; a connection that breaks | `Transport` |
    /// | the conversation is too long, by code or by what the message says | `ContextLength` |
    /// | code `content_filter`; the model refuses | `ContentFilter` |
    /// | another status from 300 to 499; status 501, 505 | `InvalidRequest` |
    /// | an answer that is too large, no chat completion, or has parts and no text in them | `Decode` |
    ///
    /// An `error` that comes with a good status is read in the same way, unless it is empty. Where
    /// the base URL may be at fault, the message names the address: a broken or missing
    /// connection, a call out of time, status 404 and 405. Of an HTML page, the error keeps the
    /// title alone.
    async fn complete(&self, request: ChatRequest) -> Result<ChatResponse, LlmError> {
        let body = body::encode(&self.model, &request, &self.extra)?;
        let answer = self.exchange.post(body).await?;
        reply::decode(&answer, self.exchange.secrets())
    }
}

impl fmt::Debug for OpenAiClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let secrets = self.exchange.secrets();
        f.debug_struct("OpenAiClient")
            .field("base_url", &secrets.setting(&self.base_url))
            .field("model", &secrets.setting(&self.model))
            .finish_non_exhaustive()
    }
}
