use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::path::PathBuf;

use cogwork_journal::Store;
use cogwork_text::files::{Access, Folder};

/// Returns the folder in which the records of a store's runs are by default: for a store in a folder,
/// that folder; for the SQLite database `runs.db`, the folder `runs.db-records` next to it; `None` for
/// PostgreSQL.
pub fn records_of(store: &Store) -> Option<PathBuf> {
    if let Some(folder) = store.folder() {
        return Some(folder.to_owned());
    }

    let database = store.database()?;
    let mut name = OsString::from(database.file_name()?);
    name.push("-records");
    Some(database.with_file_name(name))
}

/// The folder with the records.
#[derive(Debug, Clone)]
pub(crate) struct Records {
    folder: Option<PathBuf>,
}

impl Records {
    pub(crate) fn new(folder: Option<PathBuf>) -> Self {
        Self { folder }
    }

    /// Returns the file with the record of a run, which may not exist.
    pub(crate) fn file(&self, run_id: &str) -> Option<RecordFile> {
        let path = cogwork_trace::record_path(self.folder.as_ref()?, run_id);
        Some(RecordFile(path))
    }
}

/// The file with the record of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RecordFile(PathBuf);

impl RecordFile {
    /// Opens the file. Returns `None` if it doesn't exist. Links and named pipes are refused.
    pub(crate) fn open(&self) -> io::Result<Option<File>> {
        let open = || {
            let (folder, name) = Folder::of_file(&self.0)?;
            folder.open_file(name, Access::Read)
        };

        match open() {
            Ok(file) => Ok(Some(file)),
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Returns whether the file exists.
    pub(crate) fn exists(&self) -> bool {
        matches!(self.open(), Ok(Some(_)))
    }

    /// Returns whether the path still leads to an open file.
    pub(crate) fn is(&self, file: &File) -> bool {
        let check = || {
            let (folder, name) = Folder::of_file(&self.0)?;
            folder.holds(name, file)
        };
        check().unwrap_or(false)
    }
}
