//! Embedders with known vectors.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use cogwork_llm::embedding::{Embedder, Embeddings};
use cogwork_llm::{LlmError, async_trait};
use cogwork_recall::{Query, RecallError, Recalled, VectorMemory};
use tempfile::TempDir;

/// Embeds the names of colours as red, green and blue, and everything else as black. Keeps what it
/// was asked for.
#[derive(Clone)]
pub(crate) struct Colours {
    model: &'static str,
    dimension: usize,
    seen: Arc<Mutex<Vec<String>>>,
}

impl Default for Colours {
    fn default() -> Self {
        Self::new("colours", 3)
    }
}

impl Colours {
    pub(crate) fn new(model: &'static str, dimension: usize) -> Self {
        Self {
            model,
            dimension,
            seen: Arc::default(),
        }
    }

    pub(crate) fn seen(&self) -> Vec<String> {
        self.seen.lock().unwrap().clone()
    }
}

fn colour(text: &str) -> [f32; 3] {
    match text.split(' ').next().unwrap() {
        "red" => [1.0, 0.0, 0.0],
        "orange" => [2.0, 1.0, 0.0],
        "yellow" => [1.0, 1.0, 0.0],
        "green" => [0.0, 5.0, 0.0],
        "cyan" => [-1.0, 0.0, 0.0],
        _ => [0.0, 0.0, 0.0],
    }
}

#[async_trait]
impl Embedder for Colours {
    async fn embed(&self, texts: &[String]) -> Result<Embeddings, LlmError> {
        self.seen.lock().unwrap().extend_from_slice(texts);
        let vectors = texts.iter().map(|text| {
            let mut vector = colour(text).to_vec();
            vector.resize(self.dimension, 0.0);
            vector
        });

        Embeddings::new(vectors)
    }

    fn model(&self) -> &str {
        self.model
    }
}

/// An empty memory of colours.
pub(crate) fn colours() -> VectorMemory {
    VectorMemory::in_memory(Colours::default()).unwrap()
}

/// Opens a memory of colours on disk.
pub(crate) async fn open(path: &Path) -> Result<VectorMemory, RecallError> {
    VectorMemory::open(path, Colours::default()).await
}

/// The path of a memory in a folder of its own.
pub(crate) fn place() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    (folder, path)
}

/// The texts that a query finds, best first.
pub(crate) async fn found(memory: &VectorMemory, query: impl Into<Query>) -> Vec<String> {
    let recalled = memory.recall(&query.into()).await.unwrap();
    texts(recalled)
}

pub(crate) fn texts(recalled: Vec<Recalled>) -> Vec<String> {
    recalled.into_iter().map(|passage| passage.text).collect()
}
