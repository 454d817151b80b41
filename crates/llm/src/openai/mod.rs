//! The client for OpenAI-compatible servers: settings from the environment, encoding requests, and
//! decoding replies, complete or streamed. Everything else is in `http`.

use crate::LlmError;
use crate::http::{Chat, Connection, Framing, HttpClientBuilder, Protocol, client, from_env};

mod body;
mod embedder;
mod pieces;
mod reply;
mod turns;

pub use embedder::{OpenAiEmbedder, OpenAiEmbedderBuilder};

static OPENAI: Protocol = Protocol {
    client: "OpenAiClient",
    prefix: "",
    endpoint: "/chat/completions",
    example: "https://api.openai.com/v1",
    hint: ", often in /v1",
    reserved: &["model", "messages", "stream"],
    key: ("authorization", "Bearer "),
    headers: &[],
};

static CHAT: Chat = Chat {
    framing: Framing::Events,
    encode: body::encode,
    decode: reply::decode,
    reader: || Box::new(pieces::Pieces::default()),
};

/// A client for servers with OpenAI's chat completions API: OpenAI, llama.cpp, Ollama, vLLM, LM
/// Studio, OpenRouter and many more.
///
/// It sends the whole conversation in one `POST` to `{base URL}/chat/completions`. Decoding is
/// lenient: content may be a string, parts or absent; finish reasons, usage and reasoning may have
/// the names that other servers use; unknown fields are ignored; a stream may lack its end marker,
/// or a server may respond to a streaming request without streaming. The client follows no
/// redirects and doesn't retry; wrap it in a [`Retry`](crate::Retry) for that.
///
/// The API key is sent only in the `Authorization` header. If it also occurs elsewhere, such as in
/// the path of a base URL or in a server's response, `Debug` and errors show `[redacted]` instead.
///
/// The crate's [features](crate) select the TLS library; certificates are verified against those of
/// the system. Proxies set in the environment (`HTTPS_PROXY`, `NO_PROXY`, …) are used, except for
/// servers on the local machine.
///
/// ```
/// use std::time::Duration;
/// use cogwork_llm::{Backoff, ChatRequest, LlmClient, LlmError, Message, OpenAiClient, Retry};
///
/// async fn greet() -> Result<String, LlmError> {
///     let client = OpenAiClient::builder("http://localhost:8080/v1", "qwen3-4b")
///         .with_timeout(Duration::from_secs(300))
///         .with_extra("top_k", 20)
///         .build()?;
///     let client = Retry::new(client, Backoff::default());
///     let response = client.complete(ChatRequest::new([Message::user("Hello!")])).await?;
///     Ok(response.into_text())
/// }
/// ```
///
/// A streamed reply is complete at `[DONE]`, or if the stream closes cleanly after a finish reason,
/// because some servers omit the marker. Usage is requested with `stream_options`. If a server
/// refuses that field, set the [extra field](OpenAiClientBuilder::with_extra) of that name to null,
/// and it isn't sent.
///
/// # Tools, images and files
///
/// Tool calls are read in any form that servers send: in pieces or complete, with or without an
/// index, an id or an end marker. Each call gets an id that is unique in the conversation. Its
/// arguments are a JSON object if the model wrote one. A stream emits calls once they are complete,
/// and never a partial call. A reply may contain at most 128 calls.
///
/// Earlier calls are always sent in a form that servers accept, even if the model wrote something
/// invalid: arguments that aren't a JSON object, or are nested deeper than 128 levels, are sent as
/// `{"invalid_json": "…"}`, and in the name of a tool that isn't in the request, invalid characters
/// are replaced by `_`. Every call can therefore be answered, if necessary with
/// [`Message::tool_failure`](crate::Message::tool_failure). Images and files in user messages are
/// sent as data URLs.
///
/// # Errors
///
/// | condition | [kind](crate::LlmErrorKind) |
/// |---|---|
/// | status 401, 403 | `Authentication` |
/// | status 402, code `insufficient_quota` | `Quota` |
/// | status 429, with the wait of `Retry-After` | `RateLimit` |
/// | status 503, 529 | `Overloaded` |
/// | status 408, 504; no connection or no complete response within the timeout | `Timeout` |
/// | any other status from 500 | `Server` |
/// | no connection; a lost connection | `Transport` |
/// | the conversation is too long, according to the code or the message | `ContextLength` |
/// | code `content_filter`; the model refuses | `ContentFilter` |
/// | any other status from 300 to 499; status 501, 505 | `InvalidRequest` |
/// | a response that is too large, isn't a chat completion, or has only parts without text | `Decode` |
///
/// A non-empty `error` in a response with a success status is handled in the same way. If the base
/// URL may be wrong (status 404 or 405, no connection, a lost connection, a timeout), the message
/// contains the URL. For an HTML page, the error contains only its title.
///
/// A request that the protocol cannot represent is an error of kind `InvalidRequest` that names the
/// message or the tool; nothing is sent. A stream can additionally return:
///
/// | condition | [kind](crate::LlmErrorKind) |
/// |---|---|
/// | the connection ends before the reply is complete | `InterruptedStream` |
/// | the reply isn't complete within the timeout | `Timeout` |
/// | an error instead of a piece | by code, type and message, as above |
/// | an event that isn't JSON or exceeds 1 MiB; texts and calls that exceed the maximum size | `Decode` |
pub struct OpenAiClient(Connection);

/// The settings of an [`OpenAiClient`].
pub type OpenAiClientBuilder = HttpClientBuilder<OpenAiClient>;

impl OpenAiClient {
    /// Creates a builder for a client.
    ///
    /// `base_url` is the part of the URL before `/chat/completions`, such as
    /// `https://api.openai.com/v1`; `model` is the name of the model on the server.
    /// [`build`](OpenAiClientBuilder::build) validates both.
    pub fn builder(base_url: impl Into<String>, model: impl Into<String>) -> OpenAiClientBuilder {
        OpenAiClientBuilder::new(&OPENAI, Self, base_url.into(), model.into())
    }

    /// Creates a client with the settings in the environment. See [`OpenAiClientBuilder::from_env`]
    /// for the variables.
    ///
    /// # Errors
    ///
    /// Returns an error of kind [`Settings`](crate::LlmErrorKind::Settings) that names the missing
    /// or invalid variable.
    pub fn from_env() -> Result<Self, LlmError> {
        OpenAiClientBuilder::from_env()?.build()
    }
}

impl HttpClientBuilder<OpenAiClient> {
    /// Reads the settings from the environment. An empty variable counts as unset.
    ///
    /// | variable | content | when unset |
    /// |---|---|---|
    /// | `OPENAI_BASE_URL` | the URL before `/chat/completions` | `https://api.openai.com/v1` |
    /// | `OPENAI_MODEL` | the name of the model on the server | an error |
    /// | `OPENAI_API_KEY` | the API key | an error if `OPENAI_BASE_URL` is also unset, otherwise no key |
    ///
    /// # Errors
    ///
    /// Returns an error of kind [`Settings`](crate::LlmErrorKind::Settings) that names the missing
    /// or non-UTF-8 variable.
    pub fn from_env() -> Result<Self, LlmError> {
        from_env(
            &OPENAI,
            OpenAiClient,
            ["OPENAI_BASE_URL", "OPENAI_MODEL", "OPENAI_API_KEY"],
        )
    }
}

client!(OpenAiClient, CHAT, [Streaming, Tools, JsonMode, JsonSchema]);
