//! The client for Ollama's own API: encoding requests, and decoding replies, whose format is the
//! same complete and streamed. Everything else is in `http`.

use crate::http::{Chat, Connection, Framing, HttpClientBuilder, Protocol, client};

mod body;
mod embedder;
mod reply;
mod turns;

pub use embedder::{OllamaEmbedder, OllamaEmbedderBuilder};

static OLLAMA: Protocol = Protocol {
    client: "OllamaClient",
    prefix: "/api",
    endpoint: "/chat",
    example: "http://localhost:11434",
    hint: "",
    reserved: &["model", "messages", "stream"],
    key: ("authorization", "Bearer "),
    headers: &[],
};

static CHAT: Chat = Chat {
    framing: Framing::Lines,
    encode: body::encode,
    decode: reply::decode,
    reader: || Box::new(reply::Pieces),
};

/// A client for [Ollama's own API](https://docs.ollama.com/api/chat), which loads models on demand
/// and has settings that its OpenAI-compatible API lacks.
///
/// Settings of the request are sent in `options`, under Ollama's names (`num_predict` for the token
/// limit). The [extra field](OllamaClientBuilder::with_extra) `options` adds others, such as
/// `num_ctx`; other extra fields, such as `think` and `keep_alive`, are sent at the top level.
/// Ollama silently truncates a conversation that is longer than `num_ctx`, so set it.
///
/// A streamed reply is complete only at the line with `done`. The API has no ids for tool calls;
/// results are matched by tool name and order. It has no tool choice, supports images only as data,
/// and doesn't support files.
///
/// Everything else is as documented for [`OpenAiClient`](crate::OpenAiClient): lenient decoding,
/// errors, redaction, proxies and certificates.
///
/// ```
/// use std::collections::BTreeMap;
/// use cogwork_llm::{ChatRequest, LlmClient, LlmError, Message, OllamaClient};
///
/// async fn greet() -> Result<String, LlmError> {
///     let client = OllamaClient::builder("http://localhost:11434", "qwen3:4b")
///         .with_extra("options", BTreeMap::from([("num_ctx", 16_384)]))
///         .build()?;
///     Ok(client.complete(ChatRequest::new([Message::user("Hello!")])).await?.into_text())
/// }
/// ```
pub struct OllamaClient(Connection);

/// The settings of an [`OllamaClient`].
pub type OllamaClientBuilder = HttpClientBuilder<OllamaClient>;

impl OllamaClient {
    /// Creates a builder for a client.
    ///
    /// `base_url` is the part of the URL before `/api/chat`, such as `http://localhost:11434`, with
    /// or without `/api`. `model` is the name of the model on the server.
    pub fn builder(base_url: impl Into<String>, model: impl Into<String>) -> OllamaClientBuilder {
        OllamaClientBuilder::new(&OLLAMA, Self, base_url.into(), model.into())
    }
}

client!(OllamaClient, CHAT, [Streaming, Tools, JsonMode, JsonSchema]);
