//! The client of OpenAI-compatible servers: the settings it takes from the environment, the body
//! that is sent, the reading of a reply whole and in pieces. The rest is in `http`.

use crate::LlmError;
use crate::http::{Connection, Framing, HttpClientBuilder, Protocol, client, from_env};

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
/// certificates. Proxies named by the environment (`HTTPS_PROXY`, `NO_PROXY`, …) are used, except for
/// a server on this machine.
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
/// A streamed reply is whole at `[DONE]`, or where the stream ends in good order after a finish reason:
/// some servers leave the mark out. Usage is asked for with `stream_options`; for a server that refuses
/// them, set the [extra field](OpenAiClientBuilder::with_extra) of that name to null, and it is not sent.
///
/// # Tools, images and files
///
/// Calls are read in whatever form servers give them: in pieces or whole, with or without an index, an id
/// or an end of their own. Each has an id that no other call of the conversation has, and arguments that
/// are an object in JSON, if the model wrote one. A stream gives them when they are whole, and one that
/// breaks off gives no part of one. A reply asks for at most 128.
///
/// What is sent of an earlier call must be readable to servers, whatever the model wrote: arguments that
/// are no JSON object, or nested deeper than 128, go as `{"invalid_json": "…"}`, and the name of a tool
/// that is not in the request with `_` for what no name may hold. So every call can be answered, with
/// [`Message::tool_failure`](crate::Message::tool_failure) if need be. Images and files go into messages
/// of the user, as data URLs.
///
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
///
/// Before anything is sent, a request that the protocol cannot carry is an error of kind
/// `InvalidRequest`, which names the message or the tool. And through a stream:
///
/// | what happens | [kind](crate::LlmErrorKind) |
/// |---|---|
/// | the connection breaks or ends before the reply does | `InterruptedStream` |
/// | no end of the reply in time | `Timeout` |
/// | an error instead of a piece | by code, type and words, as above |
/// | an event that is no JSON; one over 1 MiB; texts and calls that are too large together | `Decode` |
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
        from_env(
            &OPENAI,
            OpenAiClient,
            ["OPENAI_BASE_URL", "OPENAI_MODEL", "OPENAI_API_KEY"],
        )
    }
}

client!(OpenAiClient, [Streaming, Tools, JsonMode, JsonSchema]);
