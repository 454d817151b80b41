//! Locks runs, so that each has at most one runner.

use std::fmt;
use std::path::Path;
use std::time::Duration;

use cogwork_files::{Folder, LockError, LockFile};
use cogwork_text::Name;

use crate::StoreError;
use crate::error::Kind;

/// How long to wait for a lock. After a run is dropped, its queue is still written.
pub(crate) const PATIENCE: Duration = Duration::from_millis(250);

/// Locks a run until the lock is dropped or the process ends. Blocks for at most [`PATIENCE`].
pub(crate) fn take(folder: &Folder, lock: &str, run_id: &str) -> Result<LockFile, StoreError> {
    let refused = |error| refused(&folder.path_of(lock), run_id, error);
    LockFile::lock_within(folder, lock, PATIENCE).map_err(refused)
}

/// Removes the lock file of a run that was removed. Whoever waits for the lock creates a new file. A
/// lock file that cannot be removed is harmless.
pub(crate) fn remove(folder: &Folder, name: &str, lock: LockFile) {
    let _ = folder.remove_file(name);
    drop(lock);
}

/// Returns the error of a run that cannot be locked with the file at `path`.
pub(crate) fn refused(path: &Path, run_id: &str, error: LockError) -> StoreError {
    if matches!(error, LockError::InUse { .. }) {
        return in_use(path, run_id, error);
    }

    let what = format_args!("{}: cannot be locked", path.display());
    match error {
        LockError::File(error) => StoreError::io(what, error.into()),
        error => StoreError::caused(Kind::Other, what, error),
    }
}

fn in_use(path: &Path, run_id: &str, holder: impl fmt::Display) -> StoreError {
    let run_id = Name(run_id);
    let path = path.display();
    let text = format!(
        "the run `{run_id}` is {holder}, with the lock on {path}: it can be resumed after that has stopped"
    );
    StoreError::new(Kind::Locked, text)
}
