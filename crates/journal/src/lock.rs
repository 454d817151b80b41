//! The folders and locks of runs, so that each has at most one runner.

use std::path::Path;
use std::time::Duration;

use cogwork_text::Name;
use cogwork_text::files::{Folder, LockError, LockFile};

use crate::{StoreError, StoreErrorKind};

/// How long to wait for a lock. After a run is dropped, its queue is still written.
pub(crate) const PATIENCE: Duration = Duration::from_millis(250);

/// Opens a folder, and creates it if it doesn't exist.
pub(crate) fn create(path: &Path) -> Result<Folder, StoreError> {
    Folder::create(path).map_err(|error| {
        let path = path.display();
        let what = format_args!("{path}: the folder cannot be created");
        StoreError::io(what, error.into())
    })
}

/// Locks a run until the lock is dropped or the process ends. Blocks for at most [`PATIENCE`].
pub(crate) fn take(folder: &Folder, lock: &str, run_id: &str) -> Result<LockFile, StoreError> {
    take_within(folder, lock, run_id, PATIENCE)
}

fn take_within(
    folder: &Folder,
    lock: &str,
    run_id: &str,
    patience: Duration,
) -> Result<LockFile, StoreError> {
    LockFile::lock_within(folder, lock, patience).map_err(|error| match error {
        LockError::InUse { .. } => {
            let run_id = Name(run_id);
            let text = format_args!(
                "the run `{run_id}` is {error}; it can be opened once it has stopped there"
            );
            StoreError::new(StoreErrorKind::InUse, text)
        }
        error => {
            let path = folder.path_of(lock);
            let what = format_args!("{}: cannot be locked", path.display());
            StoreError::caused(StoreErrorKind::Other, what, error)
        }
    })
}

/// Removes the lock file of a run that was removed. Whoever waits for the lock creates a new file. A
/// lock file that cannot be removed is harmless.
pub(crate) fn remove(folder: &Folder, name: &str, lock: LockFile) {
    // While the lock is held, so that nobody has just locked the file that is removed.
    let _ = folder.remove_file(name);
    drop(lock);
}

/// Returns whether a run is locked.
pub(crate) fn is_taken(folder: &Folder, lock: &str, run_id: &str) -> Result<bool, StoreError> {
    // Whoever opens the run at this moment waits for the lock.
    match take_within(folder, lock, run_id, Duration::ZERO) {
        Ok(_) => Ok(false),
        Err(error) if error.kind() == StoreErrorKind::InUse => Ok(true),
        Err(error) => Err(error),
    }
}
