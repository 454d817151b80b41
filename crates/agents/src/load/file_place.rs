//! The places of files that a flow file names.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use cogwork_text::files::{Error, FileId, Folder};
use cogwork_thinking::{FileMemory, MemoryError, MemoryLimits};

/// The place of a file below an open folder. Because the folder stays open, changing a link between
/// the check and the use has no effect.
#[derive(Clone)]
pub(crate) struct FilePlace {
    folder: Folder,
    /// A single name, unless a folder in the path was missing when the place was checked.
    path: PathBuf,
}

impl FilePlace {
    /// Resolves as much of a path as exists.
    pub(super) fn beneath(folder: &Folder, path: &str) -> Result<Self, String> {
        match folder.file_beneath(path) {
            Ok((folder, name)) => Ok(Self {
                folder,
                path: name.into(),
            }),
            Err(error) if error.is_not_found() => {
                let parts = PathBuf::from(path);

                // Without `.`, so that each file has only one path.
                let path = parts.iter().filter(|part| *part != ".").collect();
                Ok(Self {
                    folder: folder.clone(),
                    path,
                })
            }
            Err(error) => Err(told(&error)),
        }
    }

    /// Returns the open folder of the file, and its name there.
    pub(super) fn resolved(&self) -> Result<(Folder, OsString), String> {
        self.folder
            .file_beneath(&self.path)
            .map_err(|error| told(&error))
    }

    /// Checks that a memory can be stored here, without creating anything.
    pub(crate) fn check_memory(&self) -> Result<(), String> {
        match self.folder.file_beneath(&self.path) {
            Ok((folder, name)) => {
                FileMemory::check_place(&folder, name).map_err(|error| without_folder(&error))
            }
            // The folder may exist by the time the memory is first used.
            Err(error) if error.is_not_found() => Ok(()),
            Err(error) => Err(told(&error)),
        }
    }

    /// Returns the folder and the path in it, which are equal if the places are equal.
    pub(crate) fn id(&self) -> Result<(FileId, PathBuf), String> {
        let folder = self.folder.id().map_err(|error| told(&error))?;
        Ok((folder, self.path.clone()))
    }

    /// Opens the memory that is stored here. This call blocks.
    pub(crate) fn open_memory(&self, limits: MemoryLimits) -> Result<FileMemory, MemoryError> {
        let (folder, name) =
            self.folder
                .file_beneath(&self.path)
                .map_err(|error| MemoryError::File {
                    path: self.folder.path_of(&self.path).display().to_string(),
                    source: error.into(),
                })?;
        FileMemory::open_in(&folder, name, limits)
    }
}

/// Removes the folder from a message, because the problem already names it.
fn without_folder(error: &MemoryError) -> String {
    let MemoryError::File { path, source } = error else {
        return error.to_string();
    };

    let name = Path::new(path).file_name().unwrap_or_default();
    format!("{}: {source}", name.display())
}

/// Returns the reason why a file cannot be read.
pub(super) fn told(error: &Error) -> String {
    match error {
        Error::LeadsOut => {
            "the path leads out of the folder of this file; expected a file in that folder or below"
                .to_owned()
        }
        Error::Io(error) => format!("the file cannot be read: {error}"),
        other => other.to_string(),
    }
}
