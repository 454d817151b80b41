use std::fmt;

use cap_std::fs::FileType;

/// The type of an entry in a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FileKind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A symbolic link to anything.
    Link,
    /// A named pipe, a socket, a device or anything else.
    Special,
}

impl FileKind {
    pub(crate) fn of(file_type: FileType) -> Self {
        if file_type.is_file() {
            Self::File
        } else if file_type.is_dir() {
            Self::Folder
        } else if file_type.is_symlink() {
            Self::Link
        } else {
            Self::Special
        }
    }
}

impl fmt::Display for FileKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::File => "a regular file",
            Self::Folder => "a folder",
            Self::Link => "a symbolic link",
            Self::Special => "a special file",
        })
    }
}
