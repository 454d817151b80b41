//! The memories that a file names. They are created on first use, so checking a file creates
//! nothing on disk.

use std::ffi::OsString;
use std::sync::Arc;

use cogwork_text::files::FileId;
use cogwork_thinking::{
    Blackboard, Found, InMemory, Memory, MemoryError, MemoryLimits, async_trait,
};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::sync::OnceCell;

use crate::load::FilePlace;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Kind {
    /// Lost after the run; searched by words.
    InMemory,
    /// Kept in a file of JSON lines; searched by words.
    File,
    /// Lost after the run; returns the newest texts.
    Blackboard,
}

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
            Backing::File(place) => self.open_file(place.clone()).await?,
        };

        for text in &self.texts {
            store.add(text).await?;
        }

        Ok(store)
    }

    /// Opening a file may block for a long time, and a deadline of the run must still be met.
    async fn open_file(&self, place: FilePlace) -> Result<Arc<dyn Memory>, MemoryError> {
        let limits = self.limits;
        let opening = tokio::task::spawn_blocking(move || place.open_memory(limits));

        match opening.await {
            Ok(opened) => Ok(Arc::new(opened?)),
            Err(error) => Err(MemoryError::Other(format!(
                "the memory file was not opened: {error}"
            ))),
        }
    }
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
