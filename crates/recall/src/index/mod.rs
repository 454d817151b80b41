use std::collections::BTreeMap;
use std::path::PathBuf;

use sha2::{Digest, Sha256};

use crate::blocking::blocking;
use crate::memory::MAX_PASSAGE;
use crate::{RecallError, VectorMemory};

mod report;
pub use report::{IndexReport, SkippedFile};

mod split;

mod walk;
use walk::File;

/// The version of how texts are divided into passages.
const SPLIT_VERSION: u32 = 1;

/// Adds the texts of a folder to a [`VectorMemory`], and keeps them up to date.
///
/// The files are divided into passages at empty lines; see
/// [`with_passage_bytes`](Self::with_passage_bytes). The source of a passage is the path of its
/// file in the folder, with slashes, after the [prefix](Self::with_prefix). Files that haven't
/// changed since they were indexed aren't embedded again, and files that no longer exist are
/// removed from the memory. Each file is replaced as a whole, so an interrupted call can be
/// repeated.
///
/// Hidden files and folders, and files that end in neither `.md` nor `.txt`, are ignored. Links
/// aren't followed. Files of more than 1 MiB are skipped, and a folder with more than 10,000 files is an
/// error.
///
/// ```
/// use cogwork_llm::embedding::HashedNgrams;
/// use cogwork_recall::{Indexer, Query, RecallError, VectorMemory};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// # let folder = folder.path();
/// std::fs::write(folder.join("hours.md"), "# Hours\n\nThe office closes at six.\n")?;
///
/// let memory = VectorMemory::in_memory(HashedNgrams::new())?;
/// let report = Indexer::new(&memory).index(folder).await?;
/// assert_eq!(report.to_string(), "1 file: 1 indexed (1 passage), 0 unchanged, 0 skipped; 0 removed");
///
/// let found = memory.recall(&Query::new("When does it close?")).await?;
/// assert_eq!((found[0].source.as_str(), found[0].line), ("hours.md", 1));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Indexer {
    memory: VectorMemory,
    prefix: String,
    passage_bytes: usize,
}

impl Indexer {
    /// Creates an indexer for this memory.
    pub fn new(memory: &VectorMemory) -> Self {
        Self {
            memory: memory.clone(),
            prefix: String::new(),
            passage_bytes: 1_000,
        }
    }

    /// Sets the beginning of the names of all sources, such as `handbook/`. A memory with several
    /// folders needs a different prefix for each, because indexed sources with the prefix that
    /// aren't in the folder are removed.
    ///
    /// The default is empty.
    #[must_use]
    pub fn with_prefix(mut self, prefix: impl Into<String>) -> Self {
        self.prefix = prefix.into();
        self
    }

    /// Sets the maximum size of a passage in bytes, from 16 to the limit of the memory. Paragraphs
    /// are joined up to this size, and longer paragraphs are divided between words. A Markdown
    /// heading begins a new passage, unless the one before it is still short.
    ///
    /// The default is 1,000.
    #[must_use]
    pub fn with_passage_bytes(mut self, bytes: usize) -> Self {
        self.passage_bytes = bytes;
        self
    }

    /// Brings the memory up to date with the files in this folder and the folders in it.
    ///
    /// A file that cannot be read, is too large, or whose name or text isn't UTF-8 is skipped and listed in the report;
    /// passages of an earlier version of it are removed.
    ///
    /// # Errors
    ///
    /// Returns an error if the folder cannot be read or has too many files, or if passages cannot
    /// be embedded or stored. Files before the failure are up to date then.
    pub async fn index(&self, folder: impl Into<PathBuf>) -> Result<IndexReport, RecallError> {
        let folder = folder.into();
        let files = blocking(move || walk::files(&folder)).await?;

        let known = self.memory.digests(&self.prefix).await?;
        // What is left of these at the end are files that are gone.
        let mut known: BTreeMap<String, String> = known.into_iter().collect();
        let mut report = IndexReport::default();
        for file in files {
            let source = format!("{}{}", self.prefix, file.path);
            let digest = known.remove(&source);
            self.index_file(file, source, digest, &mut report).await?;
        }

        for source in known.keys() {
            self.memory.remove_source(source).await?;
            report.removed += 1;
        }

        Ok(report)
    }

    async fn index_file(
        &self,
        file: File,
        source: String,
        known: Option<String>,
        report: &mut IndexReport,
    ) -> Result<(), RecallError> {
        // One file that cannot be read must not keep the others from being found.
        let text = match blocking(move || file.read()).await {
            Ok(text) => text,
            Err(reason) => {
                self.memory.remove_source(&source).await?;
                report.skipped.push(SkippedFile { source, reason });
                return Ok(());
            }
        };

        let digest = self.digest(&text);
        // Embedding is what costs time and money, so unchanged texts keep their vectors.
        if known.is_some_and(|known| known == digest) {
            report.unchanged += 1;
            return Ok(());
        }

        let passages = split::passages(&text, self.passage_bytes());
        report.indexed += 1;
        report.passages += passages.len();
        self.memory
            .replace_version(&source, Some(digest), passages)
            .await
    }

    fn passage_bytes(&self) -> usize {
        self.passage_bytes.clamp(split::SHORTEST, MAX_PASSAGE)
    }

    /// Returns a digest of everything that the passages of a text depend on.
    fn digest(&self, text: &str) -> String {
        let hash = Sha256::digest(text.as_bytes());
        let hash: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
        let bytes = self.passage_bytes();

        // A text that would be split differently now has other passages, too.
        format!("v{SPLIT_VERSION} {bytes} {hash}")
    }
}
