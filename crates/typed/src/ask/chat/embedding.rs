use async_trait::async_trait;
use cogwork_flow::{is_watched, report_from};
use cogwork_llm::{Embedder, Embeddings, LlmError};
use tokio::time::Instant;

use super::event::{ChatEvent, EmbeddingCall};
use super::report::{REPORTED, SOURCE, is_reported, next_number};
use super::reporting::Reporting;

/// The number of texts that an event contains.
const SHOWN: usize = 8;

#[async_trait]
impl<E: Embedder> Embedder for Reporting<E> {
    /// # Errors
    ///
    /// Returns the error of the embedder.
    async fn embed(&self, texts: &[String]) -> Result<Embeddings, LlmError> {
        if !is_watched() || is_reported() {
            return self.client.embed(texts).await;
        }

        let started = Instant::now();
        let result = REPORTED.scope((), self.client.embed(texts)).await;

        report_from(SOURCE, || ChatEvent::Embedded {
            call: EmbeddingCall {
                number: next_number(),
                name: self.name.clone(),
                model: self.client.model().to_owned(),
                texts: texts.iter().take(SHOWN).cloned().collect(),
                count: texts.len(),
                bytes: texts.iter().map(String::len).sum(),
                usage: result.as_ref().ok().and_then(Embeddings::usage),
                error: result.as_ref().err().map(ToString::to_string),
                took: started.elapsed(),
            },
        });
        result
    }

    fn model(&self) -> &str {
        self.client.model()
    }

    fn dimension(&self) -> Option<usize> {
        self.client.dimension()
    }
}
