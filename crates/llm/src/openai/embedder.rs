use std::fmt;

use async_trait::async_trait;
use serde::Serialize;
use serde_json::{Map, Value};

use super::{OPENAI, usage};
use crate::LlmError;
#[cfg(doc)]
use crate::LlmErrorKind;
use crate::embedding::{Embedder, Embeddings};
use crate::http::{Connection, HttpClientBuilder, Protocol};
use crate::wire::{count, invalid, list, text, unreadable};

const ENDPOINT: &str = "/embeddings";
/// The maximum number of texts of a request, which all known servers accept.
const BATCH: usize = 32;

static EMBEDDINGS: Protocol = Protocol {
    client: "OpenAiEmbedder",
    // Vectors in base64 aren't decoded.
    reserved: &["model", "input", "encoding_format"],
    ..OPENAI
};

/// An embedder for servers with OpenAI's embeddings API: OpenAI, llama.cpp, Ollama, vLLM, LM Studio
/// and many more.
///
/// It sends the texts in batches to `{base URL}/embeddings`, one batch after the other. To request
/// vectors of another length than the model chooses, set the extra field `dimensions`. Settings,
/// redaction, proxies and certificates are as documented for
/// [`OpenAiClient`](crate::OpenAiClient). It doesn't retry; wrap it in a [`Retry`](crate::layers::Retry)
/// for that.
///
/// ```
/// use cogwork_llm::LlmError;
/// use cogwork_llm::embedding::{Embedder, OpenAiEmbedder};
/// use cogwork_llm::layers::{Backoff, Retry};
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
pub struct OpenAiEmbedder(Connection);

/// The settings of an [`OpenAiEmbedder`].
pub type OpenAiEmbedderBuilder = HttpClientBuilder<OpenAiEmbedder>;

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    input: &'a [String],
    #[serde(flatten)]
    extra: &'a Map<String, Value>,
}

impl OpenAiEmbedder {
    /// Creates a builder for an embedder.
    ///
    /// `base_url` is the part of the URL before `/embeddings`, such as `https://api.openai.com/v1`;
    /// `model` is the name of the model on the server.
    pub fn builder(base_url: impl Into<String>, model: impl Into<String>) -> OpenAiEmbedderBuilder {
        OpenAiEmbedderBuilder::new(&EMBEDDINGS, Self, base_url.into(), model.into())
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
        let variables = [
            "OPENAI_BASE_URL",
            "OPENAI_EMBEDDING_MODEL",
            "OPENAI_API_KEY",
        ];
        OpenAiEmbedderBuilder::in_environment(&EMBEDDINGS, Self, variables)?.build()
    }

    async fn embed_batch(&self, texts: &[String]) -> Result<Embeddings, LlmError> {
        let body = Body {
            model: &self.0.model,
            input: texts,
            extra: &self.0.extra,
        };
        let decode = |reply: &Value| decode(reply)?.checked_for(texts.len());

        self.0.post(ENDPOINT, &body, decode).await
    }
}

#[async_trait]
impl Embedder for OpenAiEmbedder {
    /// # Errors
    ///
    /// Returns the errors listed for this type.
    async fn embed(&self, texts: &[String]) -> Result<Embeddings, LlmError> {
        // Servers refuse blank texts without naming them, or return an empty vector for them.
        if let Some(place) = texts.iter().position(|text| text.trim().is_empty()) {
            return Err(invalid(format!(
                "texts[{place}] is blank; expected text to embed"
            )));
        }

        let mut vectors = Vec::new();
        let (mut model, mut usage) = (None, None);
        for batch in texts.chunks(BATCH) {
            let batch = self.embed_batch(batch).await?;
            model = batch.model.or(model);
            if let Some(more) = batch.usage {
                *usage.get_or_insert_default() += more;
            }
            vectors.extend(batch.vectors);
        }

        Ok(Embeddings {
            model,
            usage,
            ..Embeddings::new(vectors)?
        })
    }

    fn model(&self) -> &str {
        &self.0.model
    }
}

impl fmt::Debug for OpenAiEmbedder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

fn decode(reply: &Value) -> Result<Embeddings, LlmError> {
    if !reply.get("data").is_some_and(Value::is_array) {
        let message = "the response has no data; expected a list of embeddings";
        return Err(unreadable(message));
    }
    let mut embeddings = Embeddings::new(in_order(list(reply, "/data"))?)?;
    embeddings.usage = usage(reply);
    embeddings.model = text(reply, "/model");
    Ok(embeddings)
}

/// Returns the vectors in the order of the texts. Servers may send them in any order with an index,
/// or in the order of the texts without one.
fn in_order(entries: &[Value]) -> Result<Vec<Vec<f32>>, LlmError> {
    let mut entries: Vec<_> = (0..).zip(entries).collect();
    entries.sort_by_key(|(place, entry)| count(entry, "/index").unwrap_or(*place));

    let vectors = entries.into_iter().map(|(_, entry)| vector(entry));
    vectors.collect()
}

fn vector(entry: &Value) -> Result<Vec<f32>, LlmError> {
    let numbers = list(entry, "/embedding").iter();
    let numbers = numbers.map(|number| number.as_f64().map(|number| number as f32));

    numbers.collect::<Option<_>>().ok_or_else(|| {
        unreadable("an embedding contains something other than numbers; expected only numbers")
    })
}
