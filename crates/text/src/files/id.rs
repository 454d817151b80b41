use std::fs::File;

use cap_fs_ext::MetadataExt;
use cap_std::fs::Metadata;

use super::Error;

/// The identity of a file or folder on this machine, independent of its path.
///
/// The id of a file that was removed and closed may be reused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FileId {
    device: u64,
    inode: u64,
}

impl FileId {
    /// Returns the id of an open file.
    ///
    /// # Errors
    ///
    /// Returns an error if the operating system doesn't provide one.
    pub fn of(file: &File) -> Result<Self, Error> {
        Ok(Self::from_metadata(&Metadata::from_file(file)?))
    }

    pub(crate) fn from_metadata(metadata: &impl MetadataExt) -> Self {
        Self {
            device: metadata.dev(),
            inode: metadata.ino(),
        }
    }
}
