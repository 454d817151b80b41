//! The files of a database, which SQLite opens by their names.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use cogwork_files::{FileId, Folder};

use crate::StoreError;
use crate::folder::Shelf;

/// How the names of the files end that SQLite keeps beside a database.
const BESIDE: [&str; 3] = ["-wal", "-shm", "-journal"];

/// Where a database is, or would be.
#[derive(Debug)]
pub(super) struct Files {
    path: PathBuf,
    shelf: Shelf,
    name: OsString,
}

impl Files {
    pub(super) fn new(path: PathBuf) -> Self {
        let folder = path.parent().unwrap_or(Path::new(""));
        let name = path.file_name().unwrap_or_default();
        Self { shelf: Shelf::new(folder.to_owned()), name: name.to_owned(), path }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn place(&self) -> String {
        self.path.display().to_string()
    }

    /// The folder of the database; `None` where there is none.
    pub(super) fn folder(&self) -> Result<Option<Folder>, StoreError> {
        self.shelf.open()
    }

    /// The folder of the database, which is made where there is none.
    pub(super) fn create_folder(&self) -> Result<Folder, StoreError> {
        self.shelf.create()
    }

    /// A folder for what is locked: the runs, and the making of the database.
    pub(super) fn locks(&self, folder: &Folder) -> Result<Folder, StoreError> {
        let name = self.beside("-locks");
        folder.create_beneath(&name).map_err(|error| {
            let path = folder.path_of(&name);
            StoreError::io(format_args!("{}: the folder cannot be made", path.display()), error.into())
        })
    }

    /// Whether there is more than an empty file. What is no regular file under one of the names is an
    /// error: SQLite might wait for the other end of a pipe.
    pub(super) fn are_there(&self, folder: &Folder) -> Result<bool, StoreError> {
        for ending in BESIDE {
            self.length(folder, &self.beside(ending))?;
        }
        Ok(self.length(folder, &self.name)?.is_some_and(|length| length > 0))
    }

    /// Whether lines may be in the file that is written first.
    pub(super) fn have_a_log(&self, folder: &Folder) -> Result<bool, StoreError> {
        Ok(self.length(folder, &self.beside("-wal"))?.is_some_and(|length| length > 0))
    }

    /// Whether somebody works with the database, or was killed at it.
    pub(super) fn are_shared(&self, folder: &Folder) -> Result<bool, StoreError> {
        Ok(self.length(folder, &self.beside("-shm"))?.is_some())
    }

    fn length(&self, folder: &Folder, name: &OsStr) -> Result<Option<u64>, StoreError> {
        folder.file_length(name).map_err(|error| {
            let path = folder.path_of(name);
            StoreError::io(format_args!("{}: cannot be opened", path.display()), error.into())
        })
    }

    /// The path for SQLite, without links, so that it can be told to follow none. It takes some names for
    /// other things than files; none of them is absolute.
    pub(super) fn real_path(&self, folder: &Folder) -> Result<PathBuf, StoreError> {
        let folder = folder.real_path().map_err(|error| self.cannot_open(error))?;
        Ok(folder.join(&self.name))
    }

    /// Which files there are now.
    pub(super) fn seen(&self, folder: &Folder) -> Result<Seen, StoreError> {
        let mut ids = Vec::new();
        for ending in ["", "-wal", "-shm"] {
            let name = self.beside(ending);
            let Some(id) = self.id(folder, &name)? else { break };
            ids.push((name, id));
        }
        Ok(Seen { folder: folder.clone(), ids })
    }

    /// That the files are those that were seen; the others may be anything.
    pub(super) fn check(&self, seen: &Seen) -> Result<(), StoreError> {
        for (name, id) in &seen.ids {
            if self.id(&seen.folder, name)? != Some(*id) {
                return Err(StoreError::gone(seen.folder.path_of(name).display()));
            }
        }
        Ok(())
    }

    /// That the database is the one with this id.
    pub(super) fn check_database(&self, id: Option<FileId>) -> Result<(), StoreError> {
        let folder = self.folder()?;
        let found = folder.map_or(Ok(None), |folder| self.id(&folder, &self.name))?;
        if found.is_some() && found == id { Ok(()) } else { Err(StoreError::gone(self.place())) }
    }

    /// Whether another database, or none, is in the place of the one that was seen.
    pub(super) fn are_others(&self, seen: &Seen) -> Result<bool, StoreError> {
        Ok(self.id(&seen.folder, &self.name)? != seen.database())
    }

    fn id(&self, folder: &Folder, name: &OsStr) -> Result<Option<FileId>, StoreError> {
        folder.id_on_path(name).map_err(|error| self.cannot_open(error))
    }

    fn beside(&self, ending: &str) -> OsString {
        let mut name = self.name.clone();
        name.push(ending);
        name
    }

    fn cannot_open(&self, error: cogwork_files::Error) -> StoreError {
        StoreError::io(format_args!("{}: cannot be opened", self.place()), error.into())
    }
}

/// The files that a connection has open.
#[derive(Debug)]
pub(super) struct Seen {
    folder: Folder,
    ids: Vec<(OsString, FileId)>,
}

impl Seen {
    /// The id of the database, if it was there.
    pub(super) fn database(&self) -> Option<FileId> {
        self.ids.first().map(|(_, id)| *id)
    }

    /// The database alone: SQLite itself removes the others when the last connection is closed.
    pub(super) fn without_others(mut self) -> Self {
        self.ids.truncate(1);
        self
    }
}
