use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use cogwork_llm::embedding::Embedder;

use crate::blocking::blocking;
use crate::store::{Embedded, Entry, Store, unit};
use crate::{Passage, Query, RecallError, Recalled};

/// The maximum size of the text of a passage in bytes.
pub(crate) const MAX_PASSAGE: usize = 16 * 1024;

/// A memory that finds passages by the similarity of their embeddings to that of a query.
///
/// It is stored in a SQLite file with the name of the embedding model, and can only be opened with
/// an embedder of the same model. A query is compared with every passage, by cosine similarity, so
/// the results are exact, and changes can be found at once. Clones share the memory, and several
/// processes can use a file at the same time.
///
/// Work on the file runs on a thread for blocking work, if there is a tokio runtime. A call that is
/// dropped may still be completed, but is never partially stored.
///
/// ```
/// use cogwork_llm::embedding::HashedNgrams;
/// use cogwork_recall::{Passage, Query, RecallError, VectorMemory};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), RecallError> {
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("memory.db");
/// let memory = VectorMemory::open(&path, HashedNgrams::new()).await?;
/// memory.insert([Passage::new("Ada is allergic to nuts.")]).await?;
///
/// let found = memory.recall(&Query::new("nuts")).await?;
/// assert_eq!(found[0].text, "Ada is allergic to nuts.");
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct VectorMemory {
    embedder: Arc<dyn Embedder>,
    store: Arc<Store>,
    max_passages: usize,
}

impl VectorMemory {
    /// Opens the memory at `path`, or creates it if nothing has this path. The folder must exist.
    ///
    /// # Errors
    ///
    /// Returns [`OtherModel`](RecallError::OtherModel) if the stored embeddings are of another
    /// model or dimension than those of `embedder`, and other errors if the file isn't a memory, is
    /// damaged, or cannot be opened.
    pub async fn open(
        path: impl Into<PathBuf>,
        embedder: impl Embedder + 'static,
    ) -> Result<Self, RecallError> {
        let path = path.into();
        let model = embedder.model().to_owned();
        let dimension = embedder.dimension();
        let open = move || Store::open(&path)?.with_model(&model, dimension);
        let store = blocking(open).await?;

        Ok(Self::new(store, embedder))
    }

    /// Creates an empty memory that isn't stored in a file.
    ///
    /// # Errors
    ///
    /// Returns an error if there isn't enough memory for it.
    pub fn in_memory(embedder: impl Embedder + 'static) -> Result<Self, RecallError> {
        // The length of the vectors is learned from the first one.
        let store = Store::in_memory()?.with_model(embedder.model(), None)?;
        Ok(Self::new(store, embedder))
    }

    fn new(store: Store, embedder: impl Embedder + 'static) -> Self {
        Self {
            embedder: Arc::new(embedder),
            store: Arc::new(store),
            max_passages: 100_000,
        }
    }

    /// Sets the maximum number of passages. Adding more is an error. The default is 100,000.
    #[must_use]
    pub fn with_max_passages(mut self, passages: usize) -> Self {
        self.max_passages = passages;
        self
    }

    /// Adds passages. Either all of them are added or none.
    ///
    /// # Errors
    ///
    /// Returns an error if a passage is blank or too long, if there are too many, or if they cannot
    /// be embedded or stored.
    pub async fn insert(
        &self,
        passages: impl IntoIterator<Item = Passage>,
    ) -> Result<(), RecallError> {
        // Before the transaction, so that nobody waits for the server.
        let embedded = self.embedded(passages.into_iter().collect()).await?;
        let most = self.max_passages;

        self.blocking(move |store| store.insert(&embedded, most))
            .await
    }

    /// Replaces all passages of `source` by these, whose own sources are ignored. Either all of
    /// them are replaced or none.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`insert`](Self::insert).
    pub async fn replace_source(
        &self,
        source: &str,
        passages: impl IntoIterator<Item = Passage>,
    ) -> Result<(), RecallError> {
        let passages = passages.into_iter().collect();
        self.replace_version(source, None, passages).await
    }

    /// Replaces a source, and stores the digest by which changes are found.
    pub(crate) async fn replace_version(
        &self,
        source: &str,
        digest: Option<String>,
        passages: Vec<Passage>,
    ) -> Result<(), RecallError> {
        let embedded = self.embedded(passages).await?;
        let source = source.to_owned();
        let most = self.max_passages;

        self.blocking(move |store| {
            store.replace_source(&source, digest.as_deref(), &embedded, most)
        })
        .await
    }

    /// Removes all passages of `source`, and returns their number.
    ///
    /// # Errors
    ///
    /// Returns an error if the memory cannot be written.
    pub async fn remove_source(&self, source: &str) -> Result<usize, RecallError> {
        let source = source.to_owned();
        self.blocking(move |store| store.remove_source(&source))
            .await
    }

    /// Returns the passages that are most similar to the query, best first. For a blank query,
    /// returns none.
    ///
    /// # Errors
    ///
    /// Returns an error if the query cannot be embedded, or the memory cannot be read or is
    /// damaged.
    pub async fn recall(&self, query: &Query) -> Result<Vec<Recalled>, RecallError> {
        // Servers refuse to embed a blank text.
        if query.text.trim().is_empty() || query.limit == 0 {
            return Ok(Vec::new());
        }

        let texts = [query.text.clone()];
        let embeddings = self.embedder.embed(&texts).await?.checked_for(1)?;
        let vector = unit(embeddings.vectors().first().map_or(&[], Vec::as_slice));
        let query = query.clone();
        let model = self.embedder.model().to_owned();

        self.blocking(move |store| store.search(&vector, &query, &model))
            .await
    }

    /// Returns the names of the sources, sorted.
    ///
    /// # Errors
    ///
    /// Returns an error if the memory cannot be read.
    pub async fn sources(&self) -> Result<Vec<String>, RecallError> {
        self.blocking(Store::sources).await
    }

    /// Returns the number of passages.
    ///
    /// # Errors
    ///
    /// Returns an error if the memory cannot be read.
    pub async fn count(&self) -> Result<usize, RecallError> {
        self.blocking(Store::count).await
    }

    /// Adds a passage without a source, and removes the oldest of these to make room.
    pub(crate) async fn insert_note(&self, text: &str) -> Result<(), RecallError> {
        let embedded = self.embedded(vec![Passage::new(text)]).await?;
        let most = self.max_passages;

        self.blocking(move |store| store.insert_note(&embedded, most))
            .await
    }

    /// Returns the digests of the sources that have one and whose names begin with `prefix`.
    pub(crate) async fn digests(&self, prefix: &str) -> Result<Vec<(String, String)>, RecallError> {
        let prefix = prefix.to_owned();
        self.blocking(move |store| store.digests(&prefix)).await
    }

    async fn embedded(&self, passages: Vec<Passage>) -> Result<Embedded, RecallError> {
        // Before the texts are sent, since embedding may cost money.
        check(&passages)?;
        let texts: Vec<_> = passages
            .iter()
            .map(|passage| passage.text.clone())
            .collect();

        // Removing all passages of a source must not need a server.
        let vectors = if texts.is_empty() {
            Vec::new()
        } else {
            let embeddings = self.embedder.embed(&texts).await?;
            embeddings.checked_for(texts.len())?.into_vectors()
        };

        let entries = passages
            .into_iter()
            .zip(vectors)
            .map(|(passage, vector)| Entry {
                passage,
                vector: unit(&vector),
            });
        Ok(Embedded {
            model: self.embedder.model().to_owned(),
            entries: entries.collect(),
        })
    }

    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Store) -> Result<T, RecallError> + Send + 'static,
    ) -> Result<T, RecallError> {
        let store = Arc::clone(&self.store);
        blocking(move || work(&store)).await
    }
}

fn check(passages: &[Passage]) -> Result<(), RecallError> {
    for (number, passage) in (1..).zip(passages) {
        let bytes = passage.text.len();
        if bytes > MAX_PASSAGE || passage.text.trim().is_empty() {
            return Err(RecallError::Unusable { number, bytes });
        }
    }

    Ok(())
}

impl fmt::Debug for VectorMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VectorMemory")
            // Neither passages nor the embedder, whose settings may have a key.
            .field("place", &self.store.place())
            .field("model", &self.embedder.model())
            .finish_non_exhaustive()
    }
}
