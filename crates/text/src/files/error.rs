use std::io;

/// An error when opening, creating or replacing a file or folder.
///
/// Messages don't contain the path; callers prepend it. Can be converted into an [`io::Error`].
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A relative path leads out of its folder: through `..`, a root, or a link.
    #[error("the path leads out of its folder; expected a path that stays inside")]
    LeadsOut,
    /// The name belongs to something other than a regular file.
    #[error("this is {found}; expected a regular file")]
    NotAFile {
        /// What it is, such as `a folder`.
        found: &'static str,
    },
    /// A file name is empty, contains a separator, or is `.` or `..`.
    #[error("this is not a file name; expected a name without separators, other than `.` and `..`")]
    NotAName,
    /// The file is larger than the caller allows.
    #[error("the file has more than {most} bytes; expected fewer")]
    TooLarge {
        /// The limit in bytes.
        most: u64,
    },
    /// The file is not UTF-8.
    #[error("the file is not UTF-8 in line {line}; expected text")]
    NotText {
        /// The first line that is not UTF-8, from 1.
        line: usize,
    },
    /// An error of the operating system.
    #[error(transparent)]
    Io(#[from] io::Error),
}

crate::debug_as_display!(Error);

impl Error {
    /// Returns the kind of this error as an [`io::Error`].
    pub fn kind(&self) -> io::ErrorKind {
        match self {
            Self::LeadsOut => io::ErrorKind::PermissionDenied,
            Self::NotAFile { .. } | Self::NotAName => io::ErrorKind::InvalidInput,
            Self::NotText { .. } => io::ErrorKind::InvalidData,
            Self::TooLarge { .. } => io::ErrorKind::FileTooLarge,
            Self::Io(error) => error.kind(),
        }
    }

    /// Returns whether the file or folder doesn't exist.
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
