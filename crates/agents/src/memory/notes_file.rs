use std::path::PathBuf;

use cogwork_recall::Notes;
use cogwork_thinking::async_trait;
use cogwork_thinking::memory::{Found, Memory, MemoryError};
use tokio::sync::OnceCell;

/// Notes in a file, which is opened on first use, so that checking a flow creates nothing on disk.
pub(super) struct NotesFile {
    path: PathBuf,
    notes: OnceCell<Notes>,
}

impl NotesFile {
    pub(super) fn new(path: PathBuf) -> Self {
        let notes = OnceCell::new();
        Self { path, notes }
    }

    async fn notes(&self) -> Result<&Notes, MemoryError> {
        let open = || Notes::open(&self.path);
        Ok(self.notes.get_or_try_init(open).await?)
    }
}

#[async_trait]
impl Memory for NotesFile {
    async fn search(
        &self,
        query: &str,
        top_k: usize,
        threshold: f32,
    ) -> Result<Vec<Found>, MemoryError> {
        self.notes().await?.search(query, top_k, threshold).await
    }

    async fn add(&self, text: &str) -> Result<(), MemoryError> {
        self.notes().await?.add(text).await
    }
}
