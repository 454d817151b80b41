//! The client for OpenAI-compatible servers. Chat Completions are in `chat` and `chat_reply`, Responses
//! in `responses`.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::http::{ChatConnection, Connection, HttpClientBuilder, Protocol, client};
use crate::wire::count;
use crate::{Block, LlmError, LlmErrorKind, Usage};

pub(crate) mod chat;
pub(crate) mod chat_reply;
mod embedder;
mod responses;

use chat::CHAT;
pub use embedder::{OpenAiEmbedder, OpenAiEmbedderBuilder};
use responses::RESPONSES;

const OPENAI: Protocol = Protocol {
    client: "OpenAiClient",
    prefix: "",
    example: "https://api.openai.com/v1",
    hint: ", often in /v1",
    reserved: &["model", "messages", "input", "stream", "stream_options"],
    key: ("authorization", "Bearer "),
    headers: &[],
};

/// The API that an [`OpenAiClient`] uses.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OpenAiApi {
    /// Chat Completions, until the server says that a request needs Responses, as OpenAI does for
    /// tools since GPT-5.4. The client then repeats the request and stays with Responses.
    #[default]
    Auto,
    /// Chat Completions, which most servers have.
    Chat,
    /// Responses, without state on the server: every request contains the whole conversation,
    /// thinking included. It has no seeds and no stop sequences; those of a request aren't sent.
    Responses,
}

/// A client for servers with OpenAI's APIs: OpenAI, Gemini, DeepSeek, OpenRouter, Mistral, llama.cpp,
/// vLLM, LM Studio, Ollama and many more.
///
/// It sends the whole conversation in one `POST` to `{base URL}/chat/completions`, or to `{base
/// URL}/responses`, see [`OpenAiApi`]. Decoding is
/// lenient: content may be a string, parts or absent; finish reasons, usage and reasoning may have
/// the names that other servers use; unknown fields are ignored; a stream may lack its end marker,
/// or a server may respond to a streaming request without streaming. The client follows no
/// redirects and doesn't retry; wrap it in a [`Retry`](crate::layers::Retry) for that.
///
/// The API key is sent only in the `Authorization` header. If it also occurs elsewhere, such as in
/// the path of a base URL or in a server's response, `Debug` and errors show `[redacted]` instead.
///
/// The crate's [features](crate) select the TLS library; certificates are verified against those of
/// the system. Proxies set in the environment (`HTTPS_PROXY`, `NO_PROXY`, …) are used, except for
/// servers on the local machine.
///
/// ```
/// use cogwork_llm::layers::{Backoff, Retry};
/// use cogwork_llm::{ChatRequest, LlmClient, LlmError, Message, OpenAiClient};
/// use std::time::Duration;
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
/// # What servers refuse, and what they want back
///
/// If a server refuses `max_tokens`, `temperature`, `top_p`, `seed`, `stop`, `stream_options` or
/// `strict`, the client repeats the request once without it (or with `max_completion_tokens`), and
/// remembers it. Every response to such a request lists the
/// [adjustments](crate::ChatResponse::adjustments).
///
/// Thinking that a server wants back (`reasoning_content`, `reasoning`, `reasoning_details`,
/// `extra_content`, thinking in the content, items of Responses) is kept in the
/// [provider data](crate::backend::ProviderData) of the message and returned.
///
/// # Streams
///
/// A streamed reply is complete at `[DONE]`, or if the stream closes cleanly after a finish reason,
/// because some servers omit the marker. Usage is requested with `stream_options`.
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
/// contains the URL. For an HTML page, the error says only that it is one.
///
/// A request that the protocol cannot represent is an error of kind `InvalidRequest` that names the
/// message or the tool; nothing is sent. A stream can additionally return:
///
/// | condition | [kind](crate::LlmErrorKind) |
/// |---|---|
/// | the connection ends before the reply is complete | `InterruptedStream` |
/// | the reply isn't complete within the timeout | `Timeout` |
/// | an error instead of a piece | by code, type and message, as above |
/// | an event that isn't JSON or exceeds 8 MiB; a stream that exceeds the maximum size | `Decode` |
#[derive(Clone)]
pub struct OpenAiClient(ChatConnection);

/// The settings of an [`OpenAiClient`].
pub type OpenAiClientBuilder = HttpClientBuilder<OpenAiClient>;

impl OpenAiClient {
    fn of(connection: Connection) -> Self {
        Self(ChatConnection::new(connection, &CHAT, Some(&RESPONSES)))
    }

    /// Creates a builder for a client.
    ///
    /// `base_url` is the part of the URL before `/chat/completions` or `/responses`, such as
    /// `https://api.openai.com/v1`; `model` is the name of the model on the server. A query, such as
    /// Azure's `?api-version=…`, is sent with each request.
    /// [`build`](OpenAiClientBuilder::build) validates both.
    pub fn builder(base_url: impl Into<String>, model: impl Into<String>) -> OpenAiClientBuilder {
        OpenAiClientBuilder::new(&OPENAI, Self::of, base_url.into(), model.into())
    }

    /// Creates a client with the settings in the environment. An empty variable counts as unset.
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
    /// or invalid variable.
    pub fn from_env() -> Result<Self, LlmError> {
        let variables = ["OPENAI_BASE_URL", "OPENAI_MODEL", "OPENAI_API_KEY"];
        OpenAiClientBuilder::in_environment(&OPENAI, Self::of, variables)?.build()
    }
}

impl HttpClientBuilder<OpenAiClient> {
    /// Sets the API. The default is [`OpenAiApi::Auto`].
    #[must_use]
    pub fn with_api(mut self, api: OpenAiApi) -> Self {
        self.options.api = match api {
            OpenAiApi::Auto => None,
            OpenAiApi::Chat => Some(&CHAT),
            OpenAiApi::Responses => Some(&RESPONSES),
        };
        self
    }
}

client!(OpenAiClient, [Streaming, Tools, JsonMode, JsonSchema]);

/// Reads the token counts that are present. Returns `None` if there are none.
fn usage(response: &Value) -> Option<Usage> {
    let first = |names: &[&str]| {
        let mut counts = names.iter().map(|name| format!("/usage/{name}"));
        counts.find_map(|pointer| count(response, &pointer))
    };
    let prompt = first(&["prompt_tokens", "input_tokens"]);
    let completion = first(&["completion_tokens", "output_tokens"]);
    prompt.or(completion)?;

    let cached = first(&[
        "prompt_tokens_details/cached_tokens",
        "input_tokens_details/cached_tokens",
        // DeepSeek's name for it.
        "prompt_cache_hit_tokens",
    ]);
    let written = first(&[
        "prompt_tokens_details/cache_write_tokens",
        "input_tokens_details/cache_write_tokens",
    ]);
    let reasoning = first(&[
        "completion_tokens_details/reasoning_tokens",
        "output_tokens_details/reasoning_tokens",
    ]);
    Some(Usage {
        prompt_tokens: prompt.unwrap_or_default(),
        completion_tokens: completion.unwrap_or_default(),
        cached_tokens: cached.unwrap_or_default(),
        cache_written_tokens: written.unwrap_or_default(),
        reasoning_tokens: reasoning.unwrap_or_default(),
    })
}

/// Returns the address of an image or a file, which contains its data if that is known.
fn url(block: &Block) -> String {
    match block {
        Block::ImageUrl { url } => url.to_string(),
        Block::Image { media_type, data }
        | Block::File {
            media_type, data, ..
        } => format!("data:{media_type};base64,{data}"),
    }
}

/// Returns the error of a reply that is only a refusal.
fn refused(refusal: &str) -> LlmError {
    let message = format!("the model refused: {refusal}");
    LlmError::new(LlmErrorKind::ContentFilter, message)
}
