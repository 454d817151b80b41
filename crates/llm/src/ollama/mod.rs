//! The client of Ollama's own API: the body that is sent, and the reading of a reply, which has
//! one form whole and in pieces. The rest is in `http`.

use crate::http::{Connection, Framing, HttpClientBuilder, Protocol, client};

mod body;
mod reply;
mod turns;

static OLLAMA: Protocol = Protocol {
    client: "OllamaClient",
    prefix: "/api",
    endpoint: "/chat",
    example: "http://localhost:11434",
    hint: "",
    reserved: &["model", "messages", "stream"],
    key: ("authorization", "Bearer "),
    headers: &[],
    framing: Framing::Lines,
    encode: body::encode,
    decode: reply::decode,
    reader: || Box::new(reply::Pieces),
};

/// A client of [Ollama's own API](https://docs.ollama.com/api/chat), which loads models as they are
/// asked for and has settings that its OpenAI-compatible face has not.
///
/// What a request sets goes into `options`, under Ollama's names (`num_predict` for the limit of
/// tokens); an [extra field](OllamaClientBuilder::with_extra) `options` adds others, such as `num_ctx`.
/// Other extra fields stand beside it, such as `think` and `keep_alive`. Ollama cuts a conversation
/// that is longer than `num_ctx` without a word, so set it.
///
/// A streamed reply is whole at the line that says `done`, and nowhere else. Results of tools are told apart
/// by the names of their tools and their order, as the API has no ids for them. It cannot make a model call a
/// tool, and takes images as data alone, and no files.
///
/// Everything else is as with [`OpenAiClient`](crate::OpenAiClient): what is accepted, how failures
/// are told, where the key goes, if there is one, proxies and certificates.
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
    /// Begins the settings of a client.
    ///
    /// `base_url` is what goes before `/api/chat`, as in `http://localhost:11434`; one that has the
    /// `/api` already is as good. `model` is the server's name of the model.
    pub fn builder(base_url: impl Into<String>, model: impl Into<String>) -> OllamaClientBuilder {
        OllamaClientBuilder::new(&OLLAMA, Self, base_url.into(), model.into())
    }
}

client!(OllamaClient, [Streaming, Tools, JsonMode, JsonSchema]);
