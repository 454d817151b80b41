//! Opens the folders of stores.

use std::path::Path;

use cogwork_text::files::{Error, Folder};

use crate::StoreError;

/// Opens a folder. Returns `None` if it doesn't exist.
pub(crate) fn open(path: &Path) -> Result<Option<Folder>, StoreError> {
    match Folder::open(path) {
        Ok(folder) => Ok(Some(folder)),
        Err(error) if error.is_not_found() => Ok(None),
        Err(error) => Err(failed(path, "the folder cannot be opened", error)),
    }
}

/// Opens a folder, and creates it if it doesn't exist.
pub(crate) fn create(path: &Path) -> Result<Folder, StoreError> {
    Folder::create(path).map_err(|error| failed(path, "the folder cannot be created", error))
}

fn failed(path: &Path, what: &str, error: Error) -> StoreError {
    StoreError::io(format_args!("{}: {what}", path.display()), error.into())
}
