use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::path::PathBuf;

use cogwork_files::{Access, Folder};
use cogwork_journal::{AnyStore, FileStore};

/// The ending of the file with the record of a run.
const ENDING: &str = "record";

/// The folder with the records.
#[derive(Debug, Clone)]
pub(crate) struct Records {
    folder: Option<PathBuf>,
}

impl Records {
    /// Returns the folder that was chosen, or else the one next to the store.
    pub(crate) fn new(store: &AnyStore, chosen: Option<PathBuf>) -> Self {
        let folder = chosen.or_else(|| match store {
            AnyStore::File(store) => Some(store.path("run").parent()?.to_owned()),
            AnyStore::Sqlite(store) => {
                let mut name = OsString::from(store.path().file_name()?);
                name.push("-records");
                Some(store.path().with_file_name(name))
            }
            _ => None,
        });
        Self { folder }
    }

    /// Returns the file with the record of a run, which may not exist.
    pub(crate) fn file(&self, run_id: &str) -> Option<RecordFile> {
        // The same name as that of the journal.
        let journal = FileStore::new(self.folder.clone()?).path(run_id);
        Some(RecordFile(journal.with_extension(ENDING)))
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
