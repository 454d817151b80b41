use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;

use super::words::Items;
use super::{Found, Memory, MemoryError, MemoryLimits};

/// Texts in memory, found by their words. Clones share them.
///
/// The score of an item is the share of the query's words that it has, where a word weighs the more the
/// fewer items have it; of items with equal scores the newer comes first. Case and punctuation do not
/// count; Chinese, Japanese and Korean count by the letter.
///
/// See [`Memory`] for an example.
#[derive(Debug, Clone, Default)]
pub struct InMemory {
    limits: MemoryLimits,
    items: Arc<Mutex<Items>>,
}

impl InMemory {
    /// An empty one with the default limits.
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty one with these limits.
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
        let items = self.items.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(items.search(query, top_k, threshold))
    }

    async fn add(&self, text: &str) -> Result<(), MemoryError> {
        self.limits.check(text)?;
        let mut items = self.items.lock().unwrap_or_else(PoisonError::into_inner);
        items.add(text, self.limits);

        Ok(())
    }
}
