use async_trait::async_trait;
use tracing::Instrument;
use tracing::field::Empty;

use super::{Tracing, record_failure};
use crate::{Embedder, Embeddings, LlmError};

/// Creates a span named `embeddings` for each call, with the numbers of dimensions and tokens. The
/// texts are never included. If no model was set, that of the embedder is used.
#[async_trait]
impl<E: Embedder> Embedder for Tracing<E> {
    /// # Errors
    ///
    /// Returns the error of the embedder.
    async fn embed(&self, texts: &[String]) -> Result<Embeddings, LlmError> {
        let model = self.model.as_deref().unwrap_or(self.client.model());
        let span = tracing::info_span!(
            "embeddings",
            "otel.name" = display(format_args!("embeddings {model}")),
            "otel.kind" = "client",
            "otel.status_code" = Empty,
            "gen_ai.operation.name" = "embeddings",
            "gen_ai.provider.name" = self.provider.as_deref(),
            "gen_ai.request.model" = model,
            "gen_ai.embeddings.dimension.count" = Empty,
            "gen_ai.response.model" = Empty,
            "gen_ai.usage.input_tokens" = Empty,
            "openinference.span.kind" = "EMBEDDING",
            "error.type" = Empty,
        );

        let outcome = self.client.embed(texts).instrument(span.clone()).await;
        match &outcome {
            Err(error) => record_failure(&span, error),
            Ok(embeddings) => {
                span.record("gen_ai.embeddings.dimension.count", embeddings.dimension());
                if let Some(model) = embeddings.model() {
                    span.record("gen_ai.response.model", model);
                }
                if let Some(usage) = embeddings.usage() {
                    span.record("gen_ai.usage.input_tokens", usage.prompt_tokens);
                }
            }
        }

        outcome
    }

    fn model(&self) -> &str {
        self.client.model()
    }

    fn dimension(&self) -> Option<usize> {
        self.client.dimension()
    }
}
