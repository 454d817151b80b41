//! The folder of a store.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use cogwork_text::files::Folder;

use crate::StoreError;
use crate::mutex::lock;

/// The folder of a store. It is opened on first use, and all runs share the handle.
#[derive(Debug, Clone)]
pub(crate) struct StoreFolder {
    path: PathBuf,
    opened: Arc<Mutex<Option<Folder>>>,
}

impl StoreFolder {
    pub(crate) fn new(path: PathBuf) -> Self {
        Self {
            path,
            opened: Arc::default(),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Opens the folder. Returns `None` if it doesn't exist.
    pub(crate) fn open(&self) -> Result<Option<Folder>, StoreError> {
        match self.opened_by(|path| Folder::open(path)) {
            Ok(folder) => Ok(Some(folder)),
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(self.failed("the folder cannot be opened", error)),
        }
    }

    /// Opens the folder, and creates it if it doesn't exist.
    pub(crate) fn create(&self) -> Result<Folder, StoreError> {
        self.opened_by(|path| Folder::create(path))
            .map_err(|error| self.failed("the folder cannot be created", error))
    }

    fn opened_by(
        &self,
        open: impl FnOnce(&Path) -> Result<Folder, cogwork_text::files::Error>,
    ) -> Result<Folder, cogwork_text::files::Error> {
        let mut opened = lock(&self.opened);
        if let Some(folder) = opened.as_ref()
            && folder.is_still_there()?
        {
            return Ok(folder.clone());
        }

        let folder = open(&self.path)?;
        *opened = Some(folder.clone());
        Ok(folder)
    }

    fn failed(&self, what: &str, error: cogwork_text::files::Error) -> StoreError {
        StoreError::io(
            format_args!("{}: {what}", self.path.display()),
            error.into(),
        )
    }
}
