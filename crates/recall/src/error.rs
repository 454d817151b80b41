use std::error::Error;

use cogwork_llm::LlmError;
use cogwork_text::{Escaped, OneLine};

use crate::memory::MAX_PASSAGE;

/// The maximum number of characters of a path or a name that are shown.
const NAME: usize = 200;
/// The maximum number of characters of a problem that are shown.
const PROBLEM: usize = 300;

/// An error of a [`VectorMemory`](crate::VectorMemory) or an [`Indexer`](crate::Indexer).
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum RecallError {
    /// The texts or the query cannot be embedded.
    #[error("embedding failed: {0}")]
    Embedding(#[from] LlmError),
    /// The memory contains embeddings of another model, or with another number of dimensions.
    #[error("the memory {} contains embeddings {}", named(place), OneLine::new(problem).with_max_chars(PROBLEM))]
    OtherModel {
        /// The path of the memory.
        place: String,
        /// How the embeddings differ, and what was expected.
        problem: String,
    },
    /// The file isn't a memory, or of a different format.
    #[error(
        "{} isn't a memory with embeddings: {}",
        named(place), OneLine::new(problem).with_max_chars(PROBLEM)
    )]
    Foreign {
        /// The path of the file.
        place: String,
        /// What was found, and what was expected.
        problem: String,
    },
    /// The file was truncated, or changed by something else than this library.
    #[error(
        "the memory {} is damaged: {}; restore it, or delete it and add its content again",
        named(place), OneLine::new(problem).with_max_chars(PROBLEM)
    )]
    Damaged {
        /// The path of the memory.
        place: String,
        /// What was found.
        problem: String,
    },
    /// The memory has no room for further passages.
    #[error(
        "the memory {} has {passages} passages, and {more} more exceed its limit of {most}; \
         remove sources, or raise the limit",
        named(place)
    )]
    Full {
        /// The path of the memory.
        place: String,
        /// The number of passages that remain in it.
        passages: usize,
        /// The number of passages to be added.
        more: usize,
        /// The maximum number.
        most: usize,
    },
    /// A passage is blank or too long.
    #[error(
        "passage {number} has {bytes} bytes of text; expected 1 to {MAX_PASSAGE}, not only white space"
    )]
    Unusable {
        /// The number of the passage, from 1.
        number: usize,
        /// The size of its text in bytes.
        bytes: usize,
    },
    /// A folder has more files than an indexer may read.
    #[error(
        "the folder {} has more than {most} files to index; choose a smaller folder, or raise the limit",
        named(place)
    )]
    TooManyFiles {
        /// The path of the folder.
        place: String,
        /// The maximum number.
        most: usize,
    },
    /// A file or a folder cannot be opened, read or written.
    #[error("{}: {}", named(place), OneLine::new(source))]
    File {
        /// The path.
        place: String,
        /// The reason.
        source: cogwork_text::files::Error,
    },
    /// The database cannot be opened, read or written.
    #[error("the memory {}: {}", named(place), OneLine::new(source))]
    Database {
        /// The path of the memory.
        place: String,
        /// The reason.
        source: Box<dyn Error + Send + Sync>,
    },
}

cogwork_text::debug_as_display!(RecallError);

pub(crate) fn named(name: &str) -> String {
    format!("`{}`", Escaped::new(name).with_max_chars(NAME))
}
