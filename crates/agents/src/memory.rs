//! The memories that a file names. They are created on first use, so checking a file creates
//! nothing on disk.

use std::ffi::OsString;
use std::sync::Arc;

use cogwork_text::files::FileId;
use cogwork_thinking::async_trait;
use cogwork_thinking::memory::{Blackboard, Found, InMemory, Memory, MemoryError, MemoryLimits};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::sync::OnceCell;

use crate::load::FilePlace;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Kind {
    /// Lost after the run; searched by words.
    InMemory,
    /// Kept in a SQLite file; searched by words. Needs the feature `recall` of the library.
    File,
    /// Lost after the run; returns the newest texts.
    Blackboard,
}

/// Why there is no memory in a file.
pub(crate) const NO_FILES: &str =
    "this program was built without the feature `recall` of cogwork-agents; expected another type";

/// Where a store keeps its texts.
pub(crate) enum Backing {
    InMemory,
    Blackboard,
    File(FilePlace),
}

/// The key of a store. Agents with the same key share a store.
#[derive(PartialEq, Eq, Hash)]
pub(crate) enum StoreKey {
    Named(Kind, String),
    /// The path in a folder.
    File(FileId, OsString),
}

pub(crate) struct Store {
    backing: Backing,
    limits: MemoryLimits,
    texts: Vec<String>,
    opened: OnceCell<Arc<dyn Memory>>,
}

impl Store {
    pub(crate) fn new(backing: Backing, limits: MemoryLimits, texts: Vec<String>) -> Self {
        Self {
            backing,
            limits,
            texts,
            opened: OnceCell::new(),
        }
    }

    async fn opened(&self) -> Result<&Arc<dyn Memory>, MemoryError> {
        self.opened.get_or_try_init(|| self.open()).await
    }

    async fn open(&self) -> Result<Arc<dyn Memory>, MemoryError> {
        let store: Arc<dyn Memory> = match &self.backing {
            Backing::InMemory => Arc::new(InMemory::with_limits(self.limits)),
            Backing::Blackboard => Arc::new(Blackboard::with_limits(self.limits)),
            Backing::File(place) => open_file(place, self.limits).await?,
        };

        for text in &self.texts {
            store.add(text).await?;
        }

        Ok(store)
    }
}

#[cfg(feature = "recall")]
async fn open_file(
    place: &FilePlace,
    limits: MemoryLimits,
) -> Result<Arc<dyn Memory>, MemoryError> {
    let path = place.path().map_err(MemoryError::new)?;
    let notes = cogwork_recall::Notes::open(path).await?;
    Ok(Arc::new(notes.with_limits(limits)))
}

#[cfg(not(feature = "recall"))]
async fn open_file(_: &FilePlace, _: MemoryLimits) -> Result<Arc<dyn Memory>, MemoryError> {
    Err(MemoryError::new(NO_FILES))
}

#[async_trait]
impl Memory for Store {
    async fn search(
        &self,
        query: &str,
        top_k: usize,
        threshold: f32,
    ) -> Result<Vec<Found>, MemoryError> {
        self.opened().await?.search(query, top_k, threshold).await
    }

    async fn add(&self, text: &str) -> Result<(), MemoryError> {
        self.opened().await?.add(text).await
    }
}
