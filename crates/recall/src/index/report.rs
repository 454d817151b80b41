use std::fmt;

use cogwork_text::counted;

/// What an [`Indexer`](crate::Indexer) did with a folder.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct IndexReport {
    /// The number of files that are new or have changed.
    pub indexed: usize,
    /// The number of passages of these files.
    pub passages: usize,
    /// The number of files that haven't changed. They weren't embedded again.
    pub unchanged: usize,
    /// The number of files that were removed from the memory because they no longer exist.
    pub removed: usize,
    /// The files that couldn't be indexed.
    pub skipped: Vec<SkippedFile>,
}

/// A file that couldn't be indexed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SkippedFile {
    /// The name that its source would have.
    pub source: String,
    /// Why it couldn't be indexed.
    pub reason: String,
}

/// Writes one line with all numbers.
impl fmt::Display for IndexReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            indexed,
            passages,
            unchanged,
            removed,
            skipped,
        } = self;
        let skipped = skipped.len();
        let files = indexed + unchanged + skipped;

        write!(
            f,
            "{}: {indexed} indexed ({}), {unchanged} unchanged, {skipped} skipped; {removed} removed",
            counted(files, "file"),
            counted(passages, "passage"),
        )
    }
}
