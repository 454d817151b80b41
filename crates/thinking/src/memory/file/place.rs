use std::ffi::{OsStr, OsString};
use std::io;

use cogwork_files::{Folder, LockError};

use crate::memory::MemoryError;

/// The location of a memory file.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) folder: Folder,
    pub(super) name: OsString,
}

impl Place {
    pub(super) fn check(&self) -> Result<(), MemoryError> {
        for name in [self.name.clone(), self.lock_name()] {
            self.folder
                .has_file(&name)
                .map_err(|source| self.error_of(&name, source))?;
        }

        Ok(())
    }

    pub(super) fn lock_name(&self) -> OsString {
        let mut name = self.name.clone();
        name.push(".lock");
        name
    }

    pub(super) fn path(&self) -> String {
        self.folder.path_of(&self.name).display().to_string()
    }

    pub(super) fn error(&self, source: impl Into<io::Error>) -> MemoryError {
        file_error(self.path(), source)
    }

    fn error_of(&self, name: &OsStr, source: impl Into<io::Error>) -> MemoryError {
        file_error(self.folder.path_of(name).display().to_string(), source)
    }

    /// Converts the error of a lock on `name`, which is the memory file or its lock file.
    pub(super) fn lock_error(&self, name: &OsStr, error: LockError) -> MemoryError {
        match error {
            LockError::InUse { holder } => MemoryError::InUse {
                path: self.path(),
                holder,
            },
            // Replaced by a process that has it open.
            LockError::Replaced => MemoryError::InUse {
                path: self.path(),
                holder: None,
            },
            LockError::File(source) => self.error_of(name, source),
            other => self.error_of(name, io::Error::other(other)),
        }
    }
}

pub(super) fn file_error(path: String, source: impl Into<io::Error>) -> MemoryError {
    MemoryError::File {
        path,
        source: source.into(),
    }
}
