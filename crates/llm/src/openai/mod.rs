//! The client of OpenAI-compatible servers: the settings it takes from the environment, the body
//! that is sent, the reading of a reply whole and in pieces. The rest is in `http`.

use std::fmt;

use async_trait::async_trait;

use crate::http::{Connection, Framing, HttpClientBuilder, Protocol, variable, wrong};
use crate::{Capabilities, Capability, ChatRequest, ChatResponse, LlmClient, LlmError, ReplyStream};

mod body;
mod pieces;
mod reply;
mod turns;

static OPENAI: Protocol = Protocol {
    client: "OpenAiClient",
    prefix: "",
    endpoint: "/chat/completions",
    example: "https://api.openai.com/v1",
    hint: ", often in /v1",
    reserved: &["model", "messages", "stream"],
    key: ("authorization", "Bearer "),
    headers: &[],
    framing: Framing::Events,
    encode: body::encode,
    decode: reply::decode,
    reader: || Box::new(pieces::Pieces::default()),
};

/// A client of any server that speaks OpenAI's chat completions: OpenAI, llama.cpp, Ollama, vLLM,
/// LM Studio, OpenRouter and many more.
///
/// It sends the whole conversation in one `POST` to `{base URL}/chat/completions` and waits for
/// the whole reply, or hands it on as it comes. It is lenient in what it reads: content as text,
/// as parts or absent, finish reasons in other servers' words, usage in part or not at all,
/// reasoning under either of its names, fields it does not know, a stream without the last mark,
/// no stream where one was asked for. It follows no redirect, and it does not try again: put a
/// [`Retry`](crate::Retry) around it.
///
/// The key goes into the `Authorization` header and nowhere else. Where it stands in another
/// setting, as in the path of a base URL, or a server's answer repeats it, `Debug` and errors show
/// `[redacted]`.
///
/// Connections are encrypted as the crate's [features](crate) say, and checked against the system's
/// certificates. Proxies
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
pub struct OpenAiClient(Connection);

/// The settings of an [`OpenAiClient`].
pub type OpenAiClientBuilder = HttpClientBuilder<OpenAiClient>;

impl OpenAiClient {
    /// Begins the settings of a client.
    ///
    /// `base_url` is what goes before `/chat/completions`, as in `https://api.openai.com/v1`;
    /// `model` is the server's name of the model. [`build`](OpenAiClientBuilder::build) checks
    /// both.
    pub fn builder(base_url: impl Into<String>, model: impl Into<String>) -> OpenAiClientBuilder {
        OpenAiClientBuilder::new(&OPENAI, Self, base_url.into(), model.into())
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

impl HttpClientBuilder<OpenAiClient> {
    /// Settings from the environment. An empty variable counts as unset.
    ///
    /// | variable | what | when unset |
    /// |---|---|---|
    /// | `OPENAI_BASE_URL` | what goes before `/chat/completions` | `https://api.openai.com/v1` |
    /// | `OPENAI_MODEL` | the server's name of the model | an error |
    /// | `OPENAI_API_KEY` | the key | an error if `OPENAI_BASE_URL` is unset too, else no key |
    ///
    /// # Errors
    ///
    /// Of kind [`Settings`](crate::LlmErrorKind::Settings), naming the variable that is missing or
    /// not text.
    pub fn from_env() -> Result<Self, LlmError> {
        let model = variable("OPENAI_MODEL")?.ok_or_else(|| {
            wrong("OPENAI_MODEL is not set; expected the server's name of a model".to_owned())
        })?;
        let base_url = variable("OPENAI_BASE_URL")?;
        let api_key = variable("OPENAI_API_KEY")?;
        if base_url.is_none() && api_key.is_none() {
            let example = OPENAI.example;
            let message = format!(
                "OPENAI_API_KEY is not set; expected a key for {example}, or another server in OPENAI_BASE_URL"
            );
            return Err(wrong(message));
        }
        let base_url = base_url.unwrap_or_else(|| OPENAI.example.to_owned());
        let builder = OpenAiClient::builder(base_url, model).base_url_from("OPENAI_BASE_URL");
        Ok(match api_key {
            Some(key) => builder.api_key(key),
            None => builder,
        })
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
        self.0.complete(request).await
    }

    /// The reply is whole at `[DONE]`, or where the stream ends in good order after a finish
    /// reason: some servers leave the mark out. Usage is asked for with `stream_options`; for a
    /// server that refuses them, set the [extra field](OpenAiClientBuilder::extra) of that name to
    /// null, and it is not sent.
    ///
    /// # Errors
    ///
    /// As of `complete`; and through the stream:
    ///
    /// | what happens | [kind](crate::LlmErrorKind) |
    /// |---|---|
    /// | the connection breaks or ends before the reply does | `InterruptedStream` |
    /// | no end of the reply in time | `Timeout` |
    /// | an error instead of a piece | by code, type and words, as above |
    /// | an event that is no JSON; one over 1 MiB; texts that are too large together | `Decode` |
    async fn stream(&self, request: ChatRequest) -> Result<ReplyStream, LlmError> {
        self.0.stream(request).await
    }

    /// Those of the protocol. A server may know less of it, and then refuses a
    /// [format](crate::ReplyFormat) with an error of kind `InvalidRequest`.
    fn capabilities(&self) -> Capabilities {
        Capabilities::none()
            .with(Capability::Streaming)
            .with(Capability::Tools)
            .with(Capability::JsonMode)
            .with(Capability::JsonSchema)
    }
}

impl fmt::Debug for OpenAiClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
