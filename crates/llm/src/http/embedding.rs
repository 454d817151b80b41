//! The shared part of the embedders: requests in batches, and vectors that were read from a response.

use std::collections::BTreeMap;
use std::fmt;

use cogwork_read::at_most;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::connection::Connection;
use super::errors::invalid;
use super::excerpt::Secrets;
use super::json;
use crate::{Embeddings, LlmError, LlmErrorKind};

/// The maximum number of texts in a request, by default.
const BATCH: usize = 64;
/// The maximum size of the texts in a request in bytes. A longer text is sent by itself.
const BATCH_BYTES: usize = 256 * 1024;
/// The maximum number of vectors that are read of a response.
pub(crate) const MOST_VECTORS: usize = 2_048;

/// Decodes a response with a success status.
pub(crate) type Decode = fn(&[u8], &Secrets) -> Result<Embeddings, LlmError>;

/// The numbers of one vector.
#[derive(Deserialize)]
pub(crate) struct Numbers(
    #[serde(deserialize_with = "at_most::<_, _, { Embeddings::MAX_DIMENSION }>")]
    pub(crate)  Vec<f32>,
);

/// A connection to an embedding model.
pub(crate) struct EmbeddingConnection {
    connection: Connection,
    decode: Decode,
    max_batch: usize,
    dimension: Option<usize>,
}

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    input: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    dimensions: Option<usize>,
    #[serde(flatten)]
    extra: &'a BTreeMap<String, Value>,
}

impl EmbeddingConnection {
    pub(crate) fn new(connection: Connection, decode: Decode) -> Self {
        Self {
            connection,
            decode,
            max_batch: BATCH,
            dimension: None,
        }
    }

    pub(crate) fn set_max_batch(&mut self, texts: usize) {
        self.max_batch = texts.clamp(1, MOST_VECTORS);
    }

    pub(crate) fn set_dimension(&mut self, dimension: usize) {
        self.dimension = Some(dimension);
    }

    pub(crate) fn model(&self) -> &str {
        &self.connection.model
    }

    pub(crate) fn dimension(&self) -> Option<usize> {
        self.dimension
    }

    pub(crate) async fn embed(&self, texts: &[String]) -> Result<Embeddings, LlmError> {
        check(texts)?;

        let mut all = Embeddings::default();
        let mut rest = texts;
        while !rest.is_empty() {
            let (batch, more) = rest.split_at(self.batch_length(rest));
            all = all.joined(self.embed_batch(batch).await?)?;
            rest = more;
        }

        Ok(all)
    }

    /// Returns how many of the texts fit into one request. It is at least 1.
    fn batch_length(&self, texts: &[String]) -> usize {
        let mut bytes = 0_usize;
        let fitting = texts.iter().take(self.max_batch).take_while(|text| {
            bytes = bytes.saturating_add(text.len());
            bytes <= BATCH_BYTES
        });

        fitting.count().max(1)
    }

    async fn embed_batch(&self, texts: &[String]) -> Result<Embeddings, LlmError> {
        let body = json::to_bytes(&Body {
            model: &self.connection.model,
            input: texts,
            dimensions: self.dimension,
            extra: &self.connection.extra,
        })?;

        let decode = |body: &[u8], secrets: &Secrets| {
            let embeddings = (self.decode)(body, secrets)?.checked_for(texts.len())?;
            self.check_dimension(&embeddings)?;
            Ok(embeddings)
        };

        Ok(self.connection.post(body, decode).await?.value)
    }

    fn check_dimension(&self, embeddings: &Embeddings) -> Result<(), LlmError> {
        let dimension = embeddings.dimension();
        match self.dimension {
            Some(expected) if expected != dimension => Err(LlmError::new(
                LlmErrorKind::Decode,
                format!(
                    "the embeddings have {dimension} dimensions; expected {expected}, as requested"
                ),
            )),
            _ => Ok(()),
        }
    }
}

impl fmt::Debug for EmbeddingConnection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.connection.fmt(f)
    }
}

/// Servers refuse blank texts without naming them, or return an empty vector for them.
fn check(texts: &[String]) -> Result<(), LlmError> {
    match texts.iter().position(|text| text.trim().is_empty()) {
        None => Ok(()),
        Some(place) => Err(invalid(format!(
            "texts[{place}] is blank; expected text to embed"
        ))),
    }
}

/// Implements everything that is the same for all embedders over HTTP.
macro_rules! embedder {
    ($embedder:ident, $decode:path) => {
        impl $embedder {
            fn of(connection: crate::http::Connection) -> Self {
                Self(crate::http::EmbeddingConnection::new(connection, $decode))
            }

            /// Sets the maximum number of texts in a request, from 1 to 2,048. More texts are sent
            /// in several requests, one after the other. A request also contains at most 256 KiB of
            /// text, unless a single text is longer.
            ///
            /// The default is 64.
            #[must_use]
            pub fn with_max_batch(mut self, texts: usize) -> Self {
                self.0.set_max_batch(texts);
                self
            }

            /// Requests vectors of this length. Not all models support it. A reply with vectors of
            /// another length is an error of kind [`Decode`](crate::LlmErrorKind::Decode).
            ///
            /// The default is the length that the model chooses.
            #[must_use]
            pub fn with_dimension(mut self, dimension: std::num::NonZeroUsize) -> Self {
                self.0.set_dimension(dimension.get());
                self
            }
        }

        #[async_trait::async_trait]
        impl crate::Embedder for $embedder {
            /// # Errors
            ///
            /// Returns the errors [listed for `OpenAiEmbedder`](crate::OpenAiEmbedder#errors).
            async fn embed(&self, texts: &[String]) -> Result<crate::Embeddings, crate::LlmError> {
                self.0.embed(texts).await
            }

            fn model(&self) -> &str {
                self.0.model()
            }

            fn dimension(&self) -> Option<usize> {
                self.0.dimension()
            }
        }

        impl std::fmt::Debug for $embedder {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}
pub(crate) use embedder;
