use std::fmt;
use std::io;
use std::sync::Arc;

use async_trait::async_trait;
use cogwork_files::LockError;
use cogwork_text::{Escaped, OneLine};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

mod newest;
mod words;

mod in_memory;
pub use in_memory::InMemory;

mod blackboard;
pub use blackboard::Blackboard;

mod file;
pub use file::FileMemory;

mod recall;
pub(crate) use recall::recalled;
pub use recall::{Recall, RecallSettings, RecallStage};

/// A store of texts with a search.
///
/// [`InMemory`] and [`FileMemory`] compare words, [`Blackboard`] returns the newest items.
/// Implement the trait for a custom store. A call may be dropped at any `await`.
///
/// ```
/// use cogwork_thinking::{Found, InMemory, Memory, MemoryError};
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

/// An error of a memory.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MemoryError {
    /// The file cannot be opened, read or written.
    #[error("the memory file {}: {}", file(path), OneLine::new(source))]
    File {
        /// The path.
        path: String,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The file is locked by another process or memory.
    #[error("the memory file {} is {}", file(path), LockError::InUse { holder: *holder })]
    InUse {
        /// The path.
        path: String,
        /// The id of the process that holds the lock, if known.
        holder: Option<u32>,
    },
    /// The file was removed or replaced while it was open.
    #[error(
        "the memory file {} was removed or replaced while it was open; expected it to stay until it is closed",
        file(path)
    )]
    Lost {
        /// The path.
        path: String,
    },
    /// A line is neither an item nor an incomplete last item.
    #[error(
        "the memory file {}, line {line}: this is no item; expected {{\"text\": \"…\"}}",
        file(path)
    )]
    Damaged {
        /// The path.
        path: String,
        /// The line number, from 1.
        line: usize,
    },
    /// A text or a file exceeds its limit.
    #[error("{} has {bytes} bytes; expected at most {most}", OneLine::new(what))]
    TooLong {
        /// What is too long.
        what: String,
        /// The size in bytes.
        bytes: u64,
        /// The limit in bytes.
        most: u64,
    },
    /// Any other error.
    #[error("{}", OneLine::new(.0))]
    Other(String),
}

/// The maximum number of characters of a path that are shown.
const PATH: usize = 200;

fn file(path: &str) -> Escaped<&str> {
    Escaped::new(path).with_max_chars(PATH)
}

/// Limits on the size of a store.
///
/// The limits apply to the texts. A store that is searched by words also keeps an index, which
/// usually takes fewer bytes than the texts and always less than three times as many.
///
/// ```
/// use cogwork_thinking::{InMemory, MemoryLimits};
///
/// let memory = InMemory::with_limits(MemoryLimits::default().with_items(50));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct MemoryLimits {
    /// The maximum number of items. When it is exceeded, the oldest are forgotten.
    #[schemars(range(min = 1, max = 10000))]
    items: usize,
    /// The maximum size of an item in bytes. A larger one is an error.
    #[schemars(range(min = 1, max = 1048576))]
    item_bytes: usize,
    /// The maximum total size of all texts in bytes. When it is exceeded, the oldest items are
    /// forgotten.
    #[schemars(range(min = 1, max = 268435456))]
    total_bytes: usize,
}

impl Default for MemoryLimits {
    fn default() -> Self {
        Self {
            items: 1_000,
            item_bytes: 16 * 1024,
            total_bytes: 16 * 1024 * 1024,
        }
    }
}

impl MemoryLimits {
    const MOST_ITEMS: usize = 10_000;
    const MOST_BYTES: usize = 1024 * 1024;
    const MOST_TOTAL_BYTES: usize = 256 * 1024 * 1024;

    /// Sets the maximum number of items, from 1 to 10,000. When it is exceeded, the oldest are
    /// forgotten. The default is 1,000.
    #[must_use]
    pub fn with_items(mut self, items: usize) -> Self {
        self.items = items;
        self
    }

    /// Sets the maximum size of an item in bytes, up to 1 MiB. A larger one is an error. The
    /// default is 16 KiB.
    #[must_use]
    pub fn with_item_bytes(mut self, bytes: usize) -> Self {
        self.item_bytes = bytes;
        self
    }

    /// Sets the maximum total size of all texts in bytes, up to 256 MiB. When it is exceeded, the
    /// oldest items are forgotten, except for a single larger item. The default is 16 MiB.
    #[must_use]
    pub fn with_total_bytes(mut self, bytes: usize) -> Self {
        self.total_bytes = bytes;
        self
    }

    fn total_bytes(self) -> usize {
        self.total_bytes.clamp(1, Self::MOST_TOTAL_BYTES)
    }

    fn items(self) -> usize {
        self.items.clamp(1, Self::MOST_ITEMS)
    }

    fn item_bytes(self) -> usize {
        self.item_bytes.clamp(1, Self::MOST_BYTES)
    }

    fn check(self, text: &str) -> Result<(), MemoryError> {
        if text.len() <= self.item_bytes() {
            return Ok(());
        }

        let bytes = text.len() as u64;
        let most = self.item_bytes() as u64;
        Err(MemoryError::TooLong {
            what: "the text to remember".to_owned(),
            bytes,
            most,
        })
    }
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:.2} {}",
            self.score,
            OneLine::new(&self.text).with_max_chars(80)
        )
    }
}
