//! One runner a run.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::Write;
use std::path::Path;
use std::time::Duration;

use cogwork_text::Name;

use crate::StoreError;
use crate::error::Kind;

/// A run that is ours until this is dropped, or the process ends in whatever way.
///
/// The lock is on a file of its own, which stays: the run's file is another one after a fold, and a
/// lock file that is removed can be locked by two at once.
pub(crate) struct Lock {
    _file: File,
}

/// How long to wait for one who is about to finish: after a run is dropped, what it has queued is
/// written to the end.
const PATIENCE: Duration = Duration::from_millis(250);
const BETWEEN: Duration = Duration::from_millis(5);

impl Lock {
    /// Blocks for a moment at most.
    pub(crate) fn take(path: &Path, run_id: &str) -> Result<Self, StoreError> {
        let failed = |error| StoreError::io(format_args!("{}: cannot be locked", path.display()), error);
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)
            .map_err(failed)?;
        match within(PATIENCE, &file) {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(in_use(path, run_id)),
            Err(TryLockError::Error(error)) => return Err(failed(error)),
        }
        // Only for the message of those who come second, so it may fail.
        let _ = file.set_len(0).and_then(|()| writeln!(file, "{}", std::process::id()));
        Ok(Self { _file: file })
    }
}

/// Takes the lock on a file, and blocks for so long at most.
pub(crate) fn within(patience: Duration, file: &File) -> Result<(), TryLockError> {
    let mut waited = Duration::ZERO;
    loop {
        match file.try_lock() {
            Err(TryLockError::WouldBlock) if waited < patience => {
                std::thread::sleep(BETWEEN);
                waited += BETWEEN;
            }
            tried => return tried,
        }
    }
}

fn in_use(path: &Path, run_id: &str) -> StoreError {
    let holder = std::fs::read_to_string(path).ok().and_then(|pid| pid.trim().parse::<u32>().ok());
    let holder = match holder {
        Some(pid) if pid == std::process::id() => "in use in this process".to_owned(),
        Some(pid) => format!("in use by the process {pid}"),
        None => "in use".to_owned(),
    };
    let (run_id, path) = (Name(run_id), path.display());
    StoreError::new(
        Kind::Locked,
        format_args!(
            "the run `{run_id}` is {holder}, with the lock on {path}: it can be taken up when that has stopped"
        ),
    )
}
