use cogwork_read::at_most;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::reply::usage;
use crate::http::json::{self, count};
use crate::http::{
    EmbeddingConnection, HttpClientBuilder, MOST_VECTORS, Numbers, Protocol, Secrets, embedder,
    failure, from_env,
};
use crate::{Embeddings, LlmError, LlmErrorKind};

static OPENAI: Protocol = Protocol {
    client: "OpenAiEmbedder",
    prefix: "",
    endpoint: "/embeddings",
    example: "https://api.openai.com/v1",
    hint: ", often in /v1",
    // Vectors in base64 aren't decoded.
    reserved: &["model", "input", "dimensions", "encoding_format"],
    key: ("authorization", "Bearer "),
    headers: &[],
};

/// An embedder for servers with OpenAI's embeddings API: OpenAI, llama.cpp, Ollama, vLLM, LM Studio
/// and many more.
///
/// It sends the texts in batches to `{base URL}/embeddings`, one batch after the other. Settings,
/// redaction, proxies and certificates are as documented for
/// [`OpenAiClient`](crate::OpenAiClient). It doesn't retry; wrap it in a [`Retry`](crate::Retry)
/// for that.
///
/// ```
/// use cogwork_llm::{Backoff, Embedder, LlmError, OpenAiEmbedder, Retry};
///
/// async fn embed(texts: &[String]) -> Result<Vec<Vec<f32>>, LlmError> {
///     let embedder = OpenAiEmbedder::builder("http://localhost:8080/v1", "nomic-embed-text").build()?;
///     let embedder = Retry::new(embedder, Backoff::default());
///     Ok(embedder.embed(texts).await?.into_vectors())
/// }
/// ```
///
/// # Errors
///
/// The errors are those of [`OpenAiClient`](crate::OpenAiClient#errors). In addition:
///
/// | condition | [kind](LlmErrorKind) |
/// |---|---|
/// | a blank text; nothing is sent | `InvalidRequest` |
/// | more or fewer vectors than texts, or vectors that [`Embeddings::new`] refuses | `Decode` |
/// | vectors of another length than [requested](Self::with_dimension) | `Decode` |
pub struct OpenAiEmbedder(EmbeddingConnection);

/// The settings of an [`OpenAiEmbedder`].
pub type OpenAiEmbedderBuilder = HttpClientBuilder<OpenAiEmbedder>;

impl OpenAiEmbedder {
    /// Creates a builder for an embedder.
    ///
    /// `base_url` is the part of the URL before `/embeddings`, such as `https://api.openai.com/v1`;
    /// `model` is the name of the model on the server.
    pub fn builder(base_url: impl Into<String>, model: impl Into<String>) -> OpenAiEmbedderBuilder {
        OpenAiEmbedderBuilder::new(&OPENAI, Self::of, base_url.into(), model.into())
    }

    /// Creates an embedder with the settings in the environment. An empty variable counts as unset.
    ///
    /// | variable | content | when unset |
    /// |---|---|---|
    /// | `OPENAI_BASE_URL` | the URL before `/embeddings` | `https://api.openai.com/v1` |
    /// | `OPENAI_EMBEDDING_MODEL` | the name of the model on the server | an error |
    /// | `OPENAI_API_KEY` | the API key | an error if `OPENAI_BASE_URL` is also unset, otherwise no key |
    ///
    /// # Errors
    ///
    /// Returns an error of kind [`Settings`](LlmErrorKind::Settings) that names the missing or
    /// invalid variable.
    pub fn from_env() -> Result<Self, LlmError> {
        from_env(
            &OPENAI,
            Self::of,
            [
                "OPENAI_BASE_URL",
                "OPENAI_EMBEDDING_MODEL",
                "OPENAI_API_KEY",
            ],
        )?
        .build()
    }
}

embedder!(OpenAiEmbedder, decode);

#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
struct Reply<'a> {
    error: Option<&'a RawValue>,
    data: Option<Entries<'a>>,
    usage: Option<&'a RawValue>,
    model: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'a"))]
struct Entries<'a>(#[serde(deserialize_with = "at_most::<_, _, MOST_VECTORS>")] Vec<Entry<'a>>);

#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'a"))]
struct Entry<'a> {
    index: Option<&'a RawValue>,
    embedding: Numbers,
}

fn decode(body: &[u8], secrets: &Secrets) -> Result<Embeddings, LlmError> {
    let reply: Reply<'_> = json::read("list of embeddings", body, secrets)?;
    failure::check(reply.error, secrets)?;

    let entries = reply
        .data
        .ok_or_else(|| wrong("the response has no data; expected a list of embeddings"))?;
    let embeddings = Embeddings::new(in_order(entries.0)?)?;

    let embeddings = match reply.usage.and_then(usage) {
        Some(usage) => embeddings.with_usage(usage),
        None => embeddings,
    };
    Ok(match json::text(reply.model) {
        Some(model) => embeddings.with_model(model),
        None => embeddings,
    })
}

/// Returns the vectors in the order of the texts. Servers may send them in any order with an index,
/// or in the order of the texts without one.
fn in_order(entries: Vec<Entry<'_>>) -> Result<Vec<Vec<f32>>, LlmError> {
    if entries.iter().all(|entry| entry.index.is_none()) {
        return Ok(entries.into_iter().map(|entry| entry.embedding.0).collect());
    }

    let mut numbered = Vec::new();
    for entry in entries {
        let index = entry.index.and_then(count).ok_or_else(|| {
            wrong("an embedding has no index; expected one in all embeddings, or in none")
        })?;
        numbered.push((index, entry.embedding.0));
    }

    numbered.sort_by_key(|(index, _)| *index);
    for (place, (index, _)) in (0_u64..).zip(&numbered) {
        if *index != place {
            return Err(wrong(
                "the indices of the embeddings have gaps or duplicates; expected 0, 1, 2, …",
            ));
        }
    }

    Ok(numbered.into_iter().map(|(_, vector)| vector).collect())
}

fn wrong(message: &str) -> LlmError {
    LlmError::new(LlmErrorKind::Decode, message)
}
