use std::io;

use crate::FileKind;

/// Why a file or folder cannot be opened, created or replaced.
///
/// Messages do not name the path; callers put it in front. Converts into an [`io::Error`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A relative path leads out of its folder: by `..`, by a root, or by a link.
    #[error("the path leads out of its folder; expected a path that stays inside")]
    LeadsOut,
    /// The name stands for something other than a regular file.
    #[error("this is {found}; expected a regular file")]
    NotAFile {
        /// What is there instead.
        found: FileKind,
    },
    /// The name stands for something other than a folder.
    #[error("this is {found}; expected a folder")]
    NotAFolder {
        /// What is there instead.
        found: FileKind,
    },
    /// A file name is empty, has a separator, or is `.` or `..`.
    #[error("this is not a file name; expected a name without separators, other than `.` and `..`")]
    NotAName,
    /// The file is larger than the caller reads.
    #[error("the file has more than {most} bytes; expected fewer")]
    TooLarge {
        /// The limit, in bytes.
        most: u64,
    },
    /// The file is not UTF-8.
    #[error("the file is not UTF-8 in line {line}; expected text")]
    NotText {
        /// The first line that is not, from 1.
        line: usize,
    },
    /// What the operating system reports.
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl Error {
    /// Returns the kind that this has as an [`io::Error`].
    pub fn kind(&self) -> io::ErrorKind {
        match self {
            Self::LeadsOut => io::ErrorKind::PermissionDenied,
            Self::NotAFile { .. } | Self::NotAFolder { .. } | Self::NotAName => {
                io::ErrorKind::InvalidInput
            }
            Self::NotText { .. } => io::ErrorKind::InvalidData,
            Self::TooLarge { .. } => io::ErrorKind::FileTooLarge,
            Self::Io(error) => error.kind(),
        }
    }

    /// Returns whether there is no file of that name, or no such folder.
    pub fn is_not_found(&self) -> bool {
        self.kind() == io::ErrorKind::NotFound
    }
}

impl From<Error> for io::Error {
    fn from(error: Error) -> Self {
        match error {
            Error::Io(error) => error,
            error => Self::new(error.kind(), error),
        }
    }
}
