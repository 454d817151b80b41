use std::fs::File;

use cap_fs_ext::MetadataExt;
use cap_std::fs::Metadata;

use crate::Error;

/// What tells a file or folder from every other one of this machine, whatever its paths are.
///
/// Once a file is removed and closed, another one may get its id.
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
    /// When the operating system does not tell it.
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
