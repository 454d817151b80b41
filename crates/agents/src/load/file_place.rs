//! The places of files that a flow file names.

use std::ffi::OsString;
use std::io;

use cogwork_text::Escaped;
use cogwork_text::files::{Error, FileId, Folder};

/// The place of a file in or below the folder of a flow file.
#[derive(Clone)]
pub(crate) struct FilePlace {
    pub(super) folder: Folder,
    pub(super) name: OsString,
}

impl FilePlace {
    pub(super) fn beneath(folder: &Folder, path: &str) -> Result<Self, String> {
        let (folder, name) = folder.file_beneath(path).map_err(|error| told(&error))?;
        Ok(Self { folder, name })
    }

    /// Checks that a memory can be stored here, without creating anything.
    pub(crate) fn check_memory(&self) -> Result<(), String> {
        let found = self.folder.has_file(&self.name).map(drop);
        found.map_err(|error| {
            let name = Escaped::new(self.name.display());
            format!("{name}: {}", io::Error::from(error))
        })
    }

    /// Returns the folder and the name, which are equal if the places are equal.
    pub(crate) fn id(&self) -> Result<(FileId, OsString), String> {
        let folder = self.folder.id().map_err(|error| told(&error))?;
        Ok((folder, self.name.clone()))
    }

    /// Returns the path.
    #[cfg(feature = "recall")]
    pub(crate) fn path(&self) -> Result<std::path::PathBuf, String> {
        let folder = self.folder.real_path().map_err(|error| told(&error))?;
        Ok(folder.join(&self.name))
    }
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
