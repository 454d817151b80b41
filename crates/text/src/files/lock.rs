use std::ffi::OsStr;
use std::fs::{File, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::time::Duration;

use same_file::Handle;

use super::{Access, Error, Folder};

/// The delay between two attempts.
const BETWEEN: Duration = Duration::from_millis(5);
/// The maximum number of attempts for a lock file that is replaced while it is being locked.
const REPLACED: usize = 100;
/// The maximum length of a lock file, which contains only a process id and a line feed.
const LONGEST: u64 = 16;

/// An exclusive lock on a separate file, which is used for nothing else and isn't removed when the
/// lock is released.
///
/// Locking a file that is replaced by renaming would be ineffective, because the next process would
/// open and lock a different file. It uses a lock of the operating system, which is released when
/// this value is dropped or the process ends, and is also exclusive between handles of the same
/// process. On a network file system, it depends on the support of that file system.
///
/// A lock file that is removed while it is locked can be created and locked again.
#[derive(Debug)]
pub struct LockFile {
    /// Locked for as long as it is open.
    _file: File,
}

/// The error of a lock that could not be taken.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum LockError {
    /// The lock is already held.
    #[error("{}", in_use(*holder))]
    InUse {
        /// The id of the process that holds the lock, if it can be read.
        holder: Option<u32>,
    },
    /// The file doesn't have the content of a lock file, so it may contain data.
    #[error("this is not a lock file; expected an empty file, or one with a process id")]
    NotALockFile,
    /// The file no longer has its name.
    #[error("the file was replaced while it was being locked")]
    Replaced,
    /// The file cannot be opened or locked.
    #[error(transparent)]
    File(#[from] Error),
}

crate::debug_as_display!(LockError);

impl LockFile {
    /// Takes the lock, and blocks for at most `patience` while it is held. The lock file is created
    /// if it doesn't exist.
    ///
    /// A child process inherits a lock until it has started its program, so a lock that was released
    /// a moment ago can still be held.
    ///
    /// # Errors
    ///
    /// Returns an error if the lock is still held after that time, or the lock file cannot be
    /// opened, created or locked.
    pub fn lock_within(
        folder: &Folder,
        name: impl AsRef<OsStr>,
        patience: Duration,
    ) -> Result<Self, LockError> {
        let name = name.as_ref();
        let path = folder.at(name)?;

        for _ in 0..REPLACED {
            let mut file = folder.open_or_create(name, Access::Write)?;
            match lock(&file, patience) {
                Ok(()) => {}
                // On platforms where locked files cannot be read, the holder remains unknown.
                Err(TryLockError::WouldBlock) => {
                    let holder = signature(&mut file).ok().flatten();
                    return Err(LockError::InUse { holder });
                }
                Err(TryLockError::Error(error)) => return Err(Error::Io(error).into()),
            }

            // It may have been removed between the two steps. The next process would then create and
            // lock another file.
            if is_at(&file, &path).map_err(Error::Io)? {
                sign(&mut file)?;
                return Ok(Self { _file: file });
            }
        }

        Err(LockError::Replaced)
    }
}

/// Returns whether a path leads to an open file.
fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    let open = Handle::from_file(file.try_clone()?)?;
    match Handle::from_path(path) {
        Ok(found) => Ok(found == open),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

fn lock(file: &File, patience: Duration) -> Result<(), TryLockError> {
    let mut waited = Duration::ZERO;

    loop {
        match file.try_lock() {
            Err(TryLockError::WouldBlock) if waited < patience => {
                // The standard library has no lock with a time limit.
                std::thread::sleep(BETWEEN);
                waited += BETWEEN;
            }
            tried => return tried,
        }
    }
}

/// Writes the process id into the lock file, for the error message of the next process.
fn sign(file: &mut File) -> Result<(), LockError> {
    if signature(file)?.is_none() && file.metadata().map_err(Error::Io)?.len() > 0 {
        return Err(LockError::NotALockFile);
    }

    let id = std::process::id();

    // The lock is effective without it.
    let _ = file
        .set_len(0)
        .and_then(|()| file.rewind())
        .and_then(|()| writeln!(file, "{id}"));
    Ok(())
}

fn signature(file: &mut File) -> Result<Option<u32>, Error> {
    let mut text = Vec::new();
    file.seek(SeekFrom::Start(0))?;
    file.take(LONGEST).read_to_end(&mut text)?;

    Ok(str::from_utf8(&text)
        .ok()
        .and_then(|text| text.trim_end().parse().ok()))
}

fn in_use(holder: Option<u32>) -> String {
    match holder {
        Some(id) if id == std::process::id() => "in use in this process".to_owned(),
        Some(id) => format!("in use by the process {id}"),
        None => "in use".to_owned(),
    }
}
