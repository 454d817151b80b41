//! The memories that a file names. They are made when they are first used: a file that is only checked
//! leaves no trace on the disk.

use std::path::PathBuf;
use std::sync::Arc;

use cogwork_thinking::{
    Blackboard, FileMemory, Found, InMemory, Memory, MemoryError, MemoryLimits, async_trait,
};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::sync::OnceCell;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Kind {
    /// Gone with the run; finds by words.
    InMemory,
    /// Kept in a file of JSON lines; finds by words.
    File,
    /// Gone with the run; gives what is newest.
    Blackboard,
}

pub(crate) struct Store {
    kind: Kind,
    path: Option<PathBuf>,
    limits: MemoryLimits,
    texts: Vec<String>,
    opened: OnceCell<Arc<dyn Memory>>,
}

impl Store {
    pub(crate) fn new(kind: Kind, path: Option<PathBuf>, limits: MemoryLimits, texts: Vec<String>) -> Self {
        Self { kind, path, limits, texts, opened: OnceCell::new() }
    }

    async fn opened(&self) -> Result<&Arc<dyn Memory>, MemoryError> {
        let open = || async {
            let store: Arc<dyn Memory> = match self.kind {
                Kind::InMemory => Arc::new(InMemory::with_limits(self.limits)),
                Kind::Blackboard => Arc::new(Blackboard::with_limits(self.limits)),
                Kind::File => {
                    Arc::new(FileMemory::open_with(self.path.clone().unwrap_or_default(), self.limits)?)
                }
            };
            for text in &self.texts {
                store.add(text).await?;
            }
            Ok(store)
        };
        self.opened.get_or_try_init(open).await
    }
}

#[async_trait]
impl Memory for Store {
    async fn search(&self, query: &str, top_k: usize, threshold: f32) -> Result<Vec<Found>, MemoryError> {
        self.opened().await?.search(query, top_k, threshold).await
    }

    async fn add(&self, text: &str) -> Result<(), MemoryError> {
        self.opened().await?.add(text).await
    }
}
