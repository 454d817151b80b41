use std::fmt;

use cap_fs_ext::FileTypeExt;
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
    /// A named pipe, also called FIFO.
    Pipe,
    /// A socket.
    Socket,
    /// A block or character device.
    Device,
    /// Any other type.
    Other,
}

impl FileKind {
    pub(crate) fn of(file_type: FileType) -> Self {
        if file_type.is_file() {
            return Self::File;
        }

        if file_type.is_dir() {
            return Self::Folder;
        }

        if file_type.is_symlink() {
            return Self::Link;
        }

        if file_type.is_fifo() {
            return Self::Pipe;
        }

        if file_type.is_socket() {
            return Self::Socket;
        }

        if file_type.is_block_device() || file_type.is_char_device() {
            return Self::Device;
        }

        Self::Other
    }
}

impl fmt::Display for FileKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::File => "a regular file",
            Self::Folder => "a folder",
            Self::Link => "a symbolic link",
            Self::Pipe => "a named pipe",
            Self::Socket => "a socket",
            Self::Device => "a device",
            Self::Other => "not a regular file",
        })
    }
}
