use std::ffi::{OsStr, OsString};
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use cogwork_files::{Folder, LockError};

use super::{Found, Memory, MemoryError, MemoryLimits};

mod lines;
mod open;

use self::open::Open;

/// Texts in a file, one JSON object a line, found by their words as in [`InMemory`](super::InMemory).
///
/// The file is read when it is opened, and nobody else can open it as a memory until the last clone is gone.
/// The lock is on a second file, which has `.lock` added to its name and stays. Opening blocks while the file
/// is read, and for up to 250 ms while someone else has it open; async code opens it on a thread for blocking
/// work.
///
/// An item is appended by one write, without waiting for the disk. A last line that began as an item and was
/// not written whole is forgotten; any other damage is an error, so that nobody's file is cut down by mistake.
/// When the file holds twice as many lines as are kept, a new file takes its place.
///
/// The file must be a regular file: a link, a named pipe, a device or a folder is an error, and nothing is
/// written through a link. A file that is removed or replaced while it is open is an error when the next item
/// is added.
///
/// ```
/// use cogwork_thinking::{FileMemory, Memory, MemoryError};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), MemoryError> {
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("notes.jsonl");
/// let memory = FileMemory::open(&path)?;
/// memory.add("Ada is allergic to nuts.").await?;
/// drop(memory);
///
/// let memory = FileMemory::open(&path)?;
/// assert_eq!(memory.search("nuts", 1, 0.5).await?[0].text(), "Ada is allergic to nuts.");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct FileMemory {
    limits: MemoryLimits,
    open: Arc<Mutex<Open>>,
}

impl FileMemory {
    /// Opens the file with the default limits; creates it if there is none.
    ///
    /// # Errors
    ///
    /// When it cannot be opened, someone else has it open, a line is damaged in another way than by a write that
    /// broke off at its end, or it is larger than its limits explain.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, MemoryError> {
        Self::open_with(path, MemoryLimits::default())
    }

    /// Opens the file with these limits.
    ///
    /// # Errors
    ///
    /// As of [`open`](Self::open).
    pub fn open_with(path: impl Into<PathBuf>, limits: MemoryLimits) -> Result<Self, MemoryError> {
        let path = path.into();
        let found = Folder::of_file(&path);
        let (folder, name) =
            found.map_err(|source| file_error(path.display().to_string(), source))?;

        Self::open_in(&folder, name, limits)
    }

    /// Opens the file of this name in a folder that is open already, with these limits. Whatever happens to the
    /// path of the folder, the file is created and replaced in this one.
    ///
    /// # Errors
    ///
    /// As of [`open`](Self::open).
    pub fn open_in(
        folder: &Folder,
        name: impl Into<OsString>,
        limits: MemoryLimits,
    ) -> Result<Self, MemoryError> {
        let place = Place {
            folder: folder.clone(),
            name: name.into(),
        };
        let open = Open::take(place, limits)?;
        Ok(Self {
            limits,
            open: Arc::new(Mutex::new(open)),
        })
    }

    /// Checks that the file of this name in the folder, and its lock file, are regular files or not there yet.
    /// Opens, creates and changes nothing.
    ///
    /// # Errors
    ///
    /// When there is anything else, such as a link, a named pipe or a folder.
    pub fn check_place(folder: &Folder, name: impl Into<OsString>) -> Result<(), MemoryError> {
        Place {
            folder: folder.clone(),
            name: name.into(),
        }
        .check()
    }
}

#[async_trait]
impl Memory for FileMemory {
    async fn search(
        &self,
        query: &str,
        top_k: usize,
        threshold: f32,
    ) -> Result<Vec<Found>, MemoryError> {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(open.search(query, top_k, threshold))
    }

    // Without an await inside, so that no line is left half written by a caller that gives up.
    async fn add(&self, text: &str) -> Result<(), MemoryError> {
        self.limits.check(text)?;
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.append(text, self.limits)
    }
}

/// Where a memory file is.
#[derive(Debug)]
struct Place {
    folder: Folder,
    name: OsString,
}

impl Place {
    fn check(&self) -> Result<(), MemoryError> {
        for name in [self.name.clone(), self.lock_name()] {
            self.folder
                .has_file(&name)
                .map_err(|source| self.error_of(&name, source))?;
        }

        Ok(())
    }

    fn lock_name(&self) -> OsString {
        let mut name = self.name.clone();
        name.push(".lock");
        name
    }

    fn path(&self) -> String {
        self.folder.path_of(&self.name).display().to_string()
    }

    fn error(&self, source: impl Into<io::Error>) -> MemoryError {
        file_error(self.path(), source)
    }

    fn error_of(&self, name: &OsStr, source: impl Into<io::Error>) -> MemoryError {
        file_error(self.folder.path_of(name).display().to_string(), source)
    }

    /// Of the lock on the file of this name: the memory file itself, or its lock file.
    fn lock_error(&self, name: &OsStr, error: LockError) -> MemoryError {
        match error {
            LockError::InUse { holder } => MemoryError::InUse {
                path: self.path(),
                holder,
            },
            // By whoever has it open.
            LockError::Replaced => MemoryError::InUse {
                path: self.path(),
                holder: None,
            },
            LockError::File(source) => self.error_of(name, source),
            other => self.error_of(name, io::Error::other(other)),
        }
    }
}

fn file_error(path: String, source: impl Into<io::Error>) -> MemoryError {
    MemoryError::File {
        path,
        source: source.into(),
    }
}
