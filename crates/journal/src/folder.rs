//! The folder of a store, which all its runs share.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use cogwork_files::Folder;

use crate::StoreError;

/// Where a store is: opened when it is first needed, and then the same folder for all runs.
#[derive(Debug, Clone)]
pub(crate) struct Shelf {
    path: PathBuf,
    opened: Arc<Mutex<Option<Folder>>>,
}

impl Shelf {
    pub(crate) fn new(path: PathBuf) -> Self {
        Self { path, opened: Arc::default() }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The folder; `None` where there is none.
    pub(crate) fn open(&self) -> Result<Option<Folder>, StoreError> {
        match self.opened(|path| Folder::open(path)) {
            Ok(folder) => Ok(Some(folder)),
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(self.failed("the folder cannot be opened", error)),
        }
    }

    /// The folder, which is made where there is none.
    pub(crate) fn create(&self) -> Result<Folder, StoreError> {
        self.opened(|path| Folder::create(path))
            .map_err(|error| self.failed("the folder cannot be made", error))
    }

    fn opened(
        &self,
        open: impl FnOnce(&Path) -> Result<Folder, cogwork_files::Error>,
    ) -> Result<Folder, cogwork_files::Error> {
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(folder) = opened.as_ref()
            && folder.is_still_there()?
        {
            return Ok(folder.clone());
        }

        let folder = open(&self.path)?;
        *opened = Some(folder.clone());
        Ok(folder)
    }

    fn failed(&self, what: &str, error: cogwork_files::Error) -> StoreError {
        StoreError::io(format_args!("{}: {what}", self.path.display()), error.into())
    }
}
