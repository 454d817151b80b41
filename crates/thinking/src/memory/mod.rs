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

/// Something that remembers texts and finds them again.
///
/// [`InMemory`] and [`FileMemory`] compare words, [`Blackboard`] gives what is newest; implement the trait
/// for a store of your own. A call may be dropped at any `await`.
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
    /// The items that fit `query`, best first: at most `top_k`, each with a score of at least `threshold`.
    /// Scores go from 0 to 1.
    ///
    /// # Errors
    ///
    /// When the store cannot be read.
    async fn search(
        &self,
        query: &str,
        top_k: usize,
        threshold: f32,
    ) -> Result<Vec<Found>, MemoryError>;

    /// Remembers a text.
    ///
    /// # Errors
    ///
    /// When the store cannot be written.
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

/// An item that a search found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Found {
    text: Arc<str>,
    score: f32,
}

impl Found {
    /// A found text with its score, which is brought into 0 to 1.
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

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// How well it fits, from 0 to 1. What that means is the store's own.
    pub fn score(&self) -> f32 {
        self.score
    }
}

/// Why a memory could not be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MemoryError {
    /// The file could not be opened, read or written.
    #[error("the memory file {}: {}", file(path), OneLine::new(source))]
    File {
        /// Its path.
        path: String,
        /// What the system says.
        source: io::Error,
    },
    /// Someone else has the file open.
    #[error("the memory file {} is {}", file(path), LockError::InUse { holder: *holder })]
    InUse {
        /// Its path.
        path: String,
        /// The id of the process that has it open, where that is known.
        holder: Option<u32>,
    },
    /// The file was removed or replaced while it was open.
    #[error(
        "the memory file {} was removed or replaced while it was open; expected it to stay until it is closed",
        file(path)
    )]
    Lost {
        /// Its path.
        path: String,
    },
    /// A line of the file is no item, nor the beginning of one at its end.
    #[error(
        "the memory file {}, line {line}: this is no item; expected {{\"text\": \"…\"}}",
        file(path)
    )]
    Damaged {
        /// Its path.
        path: String,
        /// The line, from 1.
        line: usize,
    },
    /// A text, or a file, is too long to be kept.
    #[error("{} has {bytes} bytes; expected at most {most}", OneLine::new(what))]
    TooLong {
        /// What is too long.
        what: String,
        /// How long it is.
        bytes: u64,
        /// The limit.
        most: u64,
    },
    /// Anything else.
    #[error("{}", OneLine::new(.0))]
    Other(String),
}

/// Characters shown of a path.
const PATH: usize = 200;

fn file(path: &str) -> Escaped<&str> {
    Escaped::new(path).with_max_chars(PATH)
}

/// How much a store keeps.
///
/// The limits are on the texts. A store that finds items by their words also keeps an index of them, which
/// usually takes fewer bytes than the texts, and less than three times as many for any text.
///
/// ```
/// use cogwork_thinking::{InMemory, MemoryLimits};
///
/// let memory = InMemory::with_limits(MemoryLimits::default().with_items(50));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct MemoryLimits {
    /// How many items are kept; beyond them the oldest is forgotten.
    #[schemars(range(min = 1, max = 10000))]
    items: usize,
    /// How long an item may be, in bytes. A longer one is an error.
    #[schemars(range(min = 1, max = 1048576))]
    item_bytes: usize,
    /// How many bytes all texts may take together; beyond them the oldest is forgotten.
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

    /// How many items are kept, from 1 to 10,000; beyond them the oldest is forgotten. Default: 1,000.
    #[must_use]
    pub fn with_items(mut self, items: usize) -> Self {
        self.items = items;
        self
    }

    /// How long an item may be, in bytes, up to 1 MiB. A longer one is an error. Default: 16 KiB.
    #[must_use]
    pub fn with_item_bytes(mut self, bytes: usize) -> Self {
        self.item_bytes = bytes;
        self
    }

    /// Sets the maximum number of bytes of all texts together, up to 256 MiB. Beyond it, the oldest items
    /// are forgotten. The default is 16 MiB. A single item is kept even if it is longer.
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
