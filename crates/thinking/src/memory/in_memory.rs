use async_trait::async_trait;

use super::words::SharedItems;
use super::{Found, Memory, MemoryError, MemoryLimits};

/// Texts in memory, searched by words. Clones share the texts.
///
/// The score of an item is the fraction of the query's words that it contains. Words that occur in
/// fewer items weigh more, and of items with equal scores, the newer comes first. Case and
/// punctuation are ignored; Chinese, Japanese and Korean are split by character.
///
/// See [`Memory`] for an example.
#[derive(Debug, Clone, Default)]
pub struct InMemory {
    limits: MemoryLimits,
    items: SharedItems,
}

impl InMemory {
    /// Creates an empty memory with the default limits.
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates an empty memory with these limits.
    pub fn with_limits(limits: MemoryLimits) -> Self {
        Self {
            limits,
            ..Self::default()
        }
    }
}

#[async_trait]
impl Memory for InMemory {
    async fn search(
        &self,
        query: &str,
        top_k: usize,
        threshold: f32,
    ) -> Result<Vec<Found>, MemoryError> {
        Ok(self.items.search(query, top_k, threshold))
    }

    async fn add(&self, text: &str) -> Result<(), MemoryError> {
        self.limits.check(text)?;
        self.items.push(text, self.limits);
        Ok(())
    }
}
