use cogwork_read::at_most;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::http::json::{self, count};
use crate::http::{
    EmbeddingConnection, HttpClientBuilder, MOST_VECTORS, Numbers, Protocol, Secrets, embedder,
    failure,
};
use crate::{Embeddings, LlmError, LlmErrorKind, Usage};

static OLLAMA: Protocol = Protocol {
    client: "OllamaEmbedder",
    prefix: "/api",
    endpoint: "/embed",
    example: "http://localhost:11434",
    hint: "",
    reserved: &["model", "input", "dimensions"],
    key: ("authorization", "Bearer "),
    headers: &[],
};

/// An embedder for [Ollama's own API](https://docs.ollama.com/api/embed), which loads models on
/// demand.
///
/// Ollama silently truncates texts that are longer than the model's context. Set the [extra
/// field](OllamaEmbedderBuilder::with_extra) `truncate` to `false` to get an error instead.
/// Everything else is as documented for [`OpenAiEmbedder`](crate::OpenAiEmbedder).
///
/// ```
/// use cogwork_llm::{Embedder, LlmError, OllamaEmbedder};
///
/// async fn embed(texts: &[String]) -> Result<Vec<Vec<f32>>, LlmError> {
///     let embedder = OllamaEmbedder::builder("http://localhost:11434", "nomic-embed-text")
///         .with_extra("truncate", false)
///         .build()?;
///     Ok(embedder.embed(texts).await?.into_vectors())
/// }
/// ```
pub struct OllamaEmbedder(EmbeddingConnection);

/// The settings of an [`OllamaEmbedder`].
pub type OllamaEmbedderBuilder = HttpClientBuilder<OllamaEmbedder>;

impl OllamaEmbedder {
    /// Creates a builder for an embedder.
    ///
    /// `base_url` is the part of the URL before `/api/embed`, such as `http://localhost:11434`,
    /// with or without `/api`. `model` is the name of the model on the server.
    pub fn builder(base_url: impl Into<String>, model: impl Into<String>) -> OllamaEmbedderBuilder {
        OllamaEmbedderBuilder::new(&OLLAMA, Self::of, base_url.into(), model.into())
    }
}

embedder!(OllamaEmbedder, decode);

#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
struct Reply<'a> {
    error: Option<&'a RawValue>,
    embeddings: Option<Vectors>,
    prompt_eval_count: Option<&'a RawValue>,
    model: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Vectors(#[serde(deserialize_with = "at_most::<_, _, MOST_VECTORS>")] Vec<Numbers>);

fn decode(body: &[u8], secrets: &Secrets) -> Result<Embeddings, LlmError> {
    let reply: Reply<'_> = json::read("list of embeddings", body, secrets)?;
    failure::check(reply.error, secrets)?;

    let vectors = reply.embeddings.ok_or_else(|| {
        let message = "the response has no embeddings; expected a list of them";
        LlmError::new(LlmErrorKind::Decode, message)
    })?;
    let embeddings = Embeddings::new(vectors.0.into_iter().map(|vector| vector.0))?;

    let embeddings = match reply.prompt_eval_count.and_then(count) {
        Some(tokens) => embeddings.with_usage(Usage::new(tokens, 0)),
        None => embeddings,
    };
    Ok(match json::text(reply.model) {
        Some(model) => embeddings.with_model(model),
        None => embeddings,
    })
}
