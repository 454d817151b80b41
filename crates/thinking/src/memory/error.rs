use std::io;

use cogwork_text::files::LockError;
use cogwork_text::{Escaped, OneLine};

/// An error of a memory.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum MemoryError {
    /// The file cannot be opened, read or written.
    #[error("the memory file {}: {}", file(path), OneLine::new(source))]
    File {
        /// The path.
        path: String,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The file is locked by another process or memory.
    #[error("the memory file {} is {}", file(path), LockError::InUse { holder: *holder })]
    InUse {
        /// The path.
        path: String,
        /// The id of the process that holds the lock, if known.
        holder: Option<u32>,
    },
    /// A line is neither an item nor an incomplete last item.
    #[error(
        "the memory file {}, line {line}: this is not an item; expected {{\"text\": \"…\"}}",
        file(path)
    )]
    Damaged {
        /// The path.
        path: String,
        /// The line number, from 1.
        line: usize,
    },
    /// A text exceeds its limit.
    #[error("{} has {bytes} bytes; expected at most {most}", OneLine::new(what))]
    TooLong {
        /// What is too long.
        what: String,
        /// The size in bytes.
        bytes: u64,
        /// The limit in bytes.
        most: u64,
    },
    /// Any other error.
    #[error("{}", OneLine::new(.0))]
    Other(String),
}

cogwork_text::debug_as_display!(MemoryError);

/// The maximum number of characters of a path that are shown.
const PATH: usize = 200;

fn file(path: &str) -> Escaped<&str> {
    Escaped::new(path).with_max_chars(PATH)
}
