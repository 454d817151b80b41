use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use cogwork_text::files;
use cogwork_thinking::memory::{Found, Memory, MemoryError, check_size};
use serde::Deserialize;
use tokio::sync::OnceCell;

use crate::blocking::blocking;
use crate::store::Store;
use crate::{Query, RecallError, VectorMemory};

/// The maximum size of a file to import, in bytes.
const MOST_BYTES: u64 = 1024 * 1024 * 1024;

/// Notes in a SQLite file, searched by words: the memory of a client that thinks before it answers.
///
/// The score of a note is the fraction of the query's words that it contains. Words that occur in
/// fewer notes weigh more, and of notes with equal scores, the newer comes first. Case and
/// punctuation are ignored; Chinese, Japanese and Korean are split by character. The words are
/// indexed with [FTS5](https://www.sqlite.org/fts5.html).
///
/// The newest 10,000 notes are kept, with at most 16 MiB. Clones share the notes, and several processes can use a file at the same time, also together
/// with a [`VectorMemory`].
///
/// ```
/// use cogwork_recall::Notes;
/// use cogwork_thinking::memory::{Memory, MemoryError};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), MemoryError> {
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("notes.db");
/// let notes = Notes::open(&path).await?;
/// notes.add("Ada is allergic to nuts.").await?;
/// assert_eq!(notes.search("nuts", 1, 0.5).await?[0].text(), "Ada is allergic to nuts.");
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Notes {
    path: Arc<Path>,
    /// Opened on first use.
    store: Arc<OnceCell<Arc<Store>>>,
}

impl Notes {
    /// Opens the notes at `path`, or creates them if nothing has this path. The folder must exist.
    ///
    /// # Errors
    ///
    /// Returns an error if the file isn't a memory, is damaged, or cannot be opened.
    pub async fn open(path: impl Into<PathBuf>) -> Result<Self, RecallError> {
        let notes = Self::at(path);
        notes.store().await?;
        Ok(notes)
    }

    /// Returns the notes at `path`, which are opened, or created, when they are first used.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into().into(),
            store: Arc::default(),
        }
    }

    /// Creates notes that aren't stored in a file.
    ///
    /// # Errors
    ///
    /// Returns an error if there isn't enough memory for them.
    pub fn in_memory() -> Result<Self, RecallError> {
        let store = Arc::new(Store::in_memory()?);
        Ok(Self {
            path: Path::new("in memory").into(),
            store: Arc::new(OnceCell::new_with(Some(store))),
        })
    }

    async fn store(&self) -> Result<Arc<Store>, RecallError> {
        let path = Arc::clone(&self.path);
        let open = || async { blocking(move || Store::open(&path)).await.map(Arc::new) };
        self.store.get_or_try_init(open).await.cloned()
    }

    /// Adds the notes of a file with one JSON object per line, such as `{"text": "Ada likes tea."}`,
    /// and returns their number. Notes that are too long are an error.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be read, or a line isn't such an object. The notes before
    /// it have been added then.
    pub async fn import(&self, path: impl Into<PathBuf>) -> Result<usize, MemoryError> {
        let path = path.into();
        // All lines are read first, so that a faulty file adds nothing.
        let read = blocking(move || read_lines(&path)).await?;

        for text in &read {
            self.add(text).await?;
        }
        Ok(read.len())
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    text: String,
}

fn read_lines(path: &Path) -> Result<Vec<String>, MemoryError> {
    let shown = path.display();
    let failed = |error: files::Error| MemoryError::new(format!("{shown}: {error}"));
    let (folder, name) = files::Folder::of_file(path).map_err(failed)?;
    let content = folder.read_text_file(&name, MOST_BYTES).map_err(failed)?;

    let lines = serde_json::Deserializer::from_str(&content).into_iter::<Line>();
    let texts = lines.map(|line| line.map(|line| line.text));
    texts.collect::<Result<_, _>>().map_err(|error| {
        let expected = r#"expected lines such as {"text": "…"}"#;
        MemoryError::new(format!("{shown}: this is not a note: {error}; {expected}"))
    })
}

#[async_trait]
impl Memory for Notes {
    async fn search(
        &self,
        query: &str,
        top_k: usize,
        threshold: f32,
    ) -> Result<Vec<Found>, MemoryError> {
        let store = self.store().await?;
        let query = query.to_owned();
        let search = move || store.search_notes(&query, top_k, threshold);
        Ok(blocking(search).await?)
    }

    async fn add(&self, text: &str) -> Result<(), MemoryError> {
        // Nothing has to be forgotten for a text that is refused.
        check_size(text)?;

        let store = self.store().await?;
        let text = text.to_owned();
        Ok(blocking(move || store.add_note(&text)).await?)
    }
}

impl fmt::Debug for Notes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Notes").field("path", &self.path).finish()
    }
}

/// The memory of a client that thinks before it answers. Texts that are added have no source; if
/// the memory is full, the oldest of them are forgotten.
#[async_trait]
impl Memory for VectorMemory {
    async fn search(
        &self,
        query: &str,
        top_k: usize,
        threshold: f32,
    ) -> Result<Vec<Found>, MemoryError> {
        let query = Query::new(query)
            .with_limit(top_k)
            .with_min_score(threshold);
        let recalled = self.recall(&query).await?;

        let found = recalled
            .into_iter()
            .map(|passage| Found::new(passage.text, passage.score));
        Ok(found.collect())
    }

    async fn add(&self, text: &str) -> Result<(), MemoryError> {
        Ok(self.insert_note(text).await?)
    }
}

impl From<RecallError> for MemoryError {
    fn from(error: RecallError) -> Self {
        Self::new(error.to_string())
    }
}
