use std::sync::Arc;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use super::error::MemoryError;

/// The maximum number of items of a memory. Beyond it, the oldest are forgotten.
pub const MAX_ITEMS: usize = 10_000;

/// The maximum size of all texts of a memory, in bytes. Beyond it, the oldest items are forgotten.
pub const MAX_BYTES: usize = 16 * 1024 * 1024;

/// The maximum size of an item, in bytes.
const MAX_ITEM_BYTES: usize = 16 * 1024;

/// Checks the size of an item, for custom memories.
///
/// # Errors
///
/// Returns an error if the item has more than 16 KiB.
pub fn check_size(text: &str) -> Result<(), MemoryError> {
    let bytes = text.len();
    if bytes <= MAX_ITEM_BYTES {
        return Ok(());
    }

    let message =
        format!("the text to remember has {bytes} bytes; expected at most {MAX_ITEM_BYTES}");
    Err(MemoryError::new(message))
}

/// A store of texts with a search.
///
/// [`InMemory`](super::InMemory) compares words, [`Blackboard`](super::Blackboard) returns the newest
/// items, and the crate `cogwork-recall` keeps texts in a file. Implement the trait for a custom store, with the attribute `#[async_trait]` (without it, the compiler reports error E0195). A call
/// may be dropped at any `await`.
///
/// ```
/// use cogwork_thinking::memory::{Found, InMemory, Memory, MemoryError};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), MemoryError> {
/// let memory = InMemory::new();
/// memory.add("Ada is allergic to nuts.").await?;
/// memory.add("The office closes at six.").await?;
///
/// let found = memory.search("Can Ada eat a cake with nuts?", 3, 0.1).await?;
/// assert_eq!(found.len(), 1);
/// assert_eq!(found[0].text(), "Ada is allergic to nuts.");
/// # Ok(())
/// # }
/// ```
#[async_trait]
pub trait Memory: Send + Sync {
    /// Returns the items that match `query`, best first: at most `top_k`, each with a score from
    /// `threshold` to 1.
    ///
    /// # Errors
    ///
    /// Returns an error if the store cannot be read.
    async fn search(
        &self,
        query: &str,
        top_k: usize,
        threshold: f32,
    ) -> Result<Vec<Found>, MemoryError>;

    /// Adds a text.
    ///
    /// # Errors
    ///
    /// Returns an error if the store cannot be written.
    async fn add(&self, text: &str) -> Result<(), MemoryError>;
}

#[async_trait]
impl<M: Memory + ?Sized> Memory for Arc<M> {
    async fn search(
        &self,
        query: &str,
        top_k: usize,
        threshold: f32,
    ) -> Result<Vec<Found>, MemoryError> {
        (**self).search(query, top_k, threshold).await
    }

    async fn add(&self, text: &str) -> Result<(), MemoryError> {
        (**self).add(text).await
    }
}

/// A search result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Found {
    text: Arc<str>,
    score: f32,
}

impl Found {
    /// Creates a result. The score is clamped to 0 to 1.
    pub fn new(text: impl Into<Arc<str>>, score: f32) -> Self {
        // A number that cannot be compared would make the order of results random.
        let score = if score.is_nan() {
            0.0
        } else {
            score.clamp(0.0, 1.0)
        };
        Self {
            text: text.into(),
            score,
        }
    }

    /// Returns the text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the score from 0 to 1. Its meaning depends on the store.
    pub fn score(&self) -> f32 {
        self.score
    }
}
