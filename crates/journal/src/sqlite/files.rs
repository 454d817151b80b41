//! The files of a database. SQLite opens them by name.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use cogwork_files::{FileId, Folder};

use crate::StoreError;
use crate::folder::StoreFolder;

/// The suffixes of the files that SQLite creates next to a database.
const BESIDE: [&str; 3] = ["-wal", "-shm", "-journal"];

/// The location of a database, which may not exist.
#[derive(Debug)]
pub(super) struct Files {
    path: PathBuf,
    location: StoreFolder,
    name: OsString,
}

impl Files {
    pub(super) fn new(path: PathBuf) -> Self {
        let folder = path.parent().unwrap_or(Path::new(""));
        let name = path.file_name().unwrap_or_default();
        Self {
            location: StoreFolder::new(folder.to_owned()),
            name: name.to_owned(),
            path,
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn place(&self) -> String {
        self.path.display().to_string()
    }

    /// Opens the folder of the database. Returns `None` if it doesn't exist.
    pub(super) fn folder(&self) -> Result<Option<Folder>, StoreError> {
        self.location.open()
    }

    /// Opens the folder of the database, and creates it if it doesn't exist.
    pub(super) fn create_folder(&self) -> Result<Folder, StoreError> {
        self.location.create()
    }

    /// Opens the folder of the lock files.
    pub(super) fn locks(&self, folder: &Folder) -> Result<Folder, StoreError> {
        let name = self.beside("-locks");
        folder.create_beneath(&name).map_err(|error| {
            let path = folder.path_of(&name);
            StoreError::io(
                format_args!("{}: the folder cannot be created", path.display()),
                error.into(),
            )
        })
    }

    /// Returns whether the database has any content. Returns an error if anything other than a
    /// regular file has one of its names, since SQLite might block on a pipe.
    pub(super) fn has_content(&self, folder: &Folder) -> Result<bool, StoreError> {
        for ending in BESIDE {
            self.length(folder, &self.beside(ending))?;
        }
        Ok(self
            .length(folder, &self.name)?
            .is_some_and(|length| length > 0))
    }

    /// Returns whether the write-ahead log may have lines that the database doesn't have yet.
    pub(super) fn has_log(&self, folder: &Folder) -> Result<bool, StoreError> {
        Ok(self
            .length(folder, &self.beside("-wal"))?
            .is_some_and(|length| length > 0))
    }

    /// Returns whether a process has the database open, or was killed while it had.
    pub(super) fn is_shared(&self, folder: &Folder) -> Result<bool, StoreError> {
        Ok(self.length(folder, &self.beside("-shm"))?.is_some())
    }

    fn length(&self, folder: &Folder, name: &OsStr) -> Result<Option<u64>, StoreError> {
        folder.file_length(name).map_err(|error| {
            let path = folder.path_of(name);
            StoreError::io(
                format_args!("{}: cannot be opened", path.display()),
                error.into(),
            )
        })
    }

    /// Returns the path for SQLite. It contains no links, so that SQLite can refuse to follow any,
    /// and is absolute, since SQLite gives some relative names a special meaning.
    pub(super) fn real_path(&self, folder: &Folder) -> Result<PathBuf, StoreError> {
        let folder = folder
            .real_path()
            .map_err(|error| self.cannot_open(error))?;
        Ok(folder.join(&self.name))
    }

    /// Returns the current ids of the files.
    pub(super) fn identify(&self, folder: &Folder) -> Result<OpenFiles, StoreError> {
        let mut ids = Vec::new();
        for ending in ["", "-wal", "-shm"] {
            let name = self.beside(ending);
            let Some(id) = self.id(folder, &name)? else {
                break;
            };

            ids.push((name, id));
        }

        Ok(OpenFiles {
            folder: folder.clone(),
            ids,
        })
    }

    /// Checks that the files are still those that were open.
    pub(super) fn check(&self, seen: &OpenFiles) -> Result<(), StoreError> {
        for (name, id) in &seen.ids {
            if self.id(&seen.folder, name)? != Some(*id) {
                return Err(StoreError::gone(seen.folder.path_of(name).display()));
            }
        }

        Ok(())
    }

    /// Returns whether the database was replaced.
    pub(super) fn database_is_replaced(&self, seen: &OpenFiles) -> Result<bool, StoreError> {
        Ok(self.id(&seen.folder, &self.name)? != seen.database())
    }

    fn id(&self, folder: &Folder, name: &OsStr) -> Result<Option<FileId>, StoreError> {
        folder
            .id_on_path(name)
            .map_err(|error| self.cannot_open(error))
    }

    fn beside(&self, ending: &str) -> OsString {
        let mut name = self.name.clone();
        name.push(ending);
        name
    }

    fn cannot_open(&self, error: cogwork_files::Error) -> StoreError {
        StoreError::io(
            format_args!("{}: cannot be opened", self.place()),
            error.into(),
        )
    }
}

/// The files that a connection has open.
#[derive(Debug)]
pub(super) struct OpenFiles {
    folder: Folder,
    ids: Vec<(OsString, FileId)>,
}

impl OpenFiles {
    /// Returns the id of the database, if it was there.
    pub(super) fn database(&self) -> Option<FileId> {
        self.ids.first().map(|(_, id)| *id)
    }

    /// Leaves out the files next to the database: SQLite removes them when the last connection is
    /// closed.
    pub(super) fn database_alone(mut self) -> Self {
        self.ids.truncate(1);
        self
    }
}
