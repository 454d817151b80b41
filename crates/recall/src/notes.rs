use async_trait::async_trait;
use cogwork_thinking::{Found, Memory, MemoryError};

use crate::{Query, RecallError, VectorMemory};

/// The memory of a client that thinks before it answers. Texts that are added have no source; if
/// the memory is full, the oldest of them are forgotten.
#[async_trait]
impl Memory for VectorMemory {
    async fn search(
        &self,
        query: &str,
        top_k: usize,
        threshold: f32,
    ) -> Result<Vec<Found>, MemoryError> {
        let query = Query::new(query)
            .with_limit(top_k)
            .with_min_score(threshold);
        let recalled = self.recall(&query).await?;

        let found = recalled
            .into_iter()
            .map(|passage| Found::new(passage.text, passage.score));
        Ok(found.collect())
    }

    async fn add(&self, text: &str) -> Result<(), MemoryError> {
        Ok(self.insert_note(text).await?)
    }
}

impl From<RecallError> for MemoryError {
    fn from(error: RecallError) -> Self {
        Self::Other(error.to_string())
    }
}
