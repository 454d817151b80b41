use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use cogwork_files::Folder;
use tokio::runtime::Handle;
use tokio::sync::{Mutex, OwnedMutexGuard};

use super::words::SharedItems;
use super::{Found, Memory, MemoryError, MemoryLimits};

mod kept;
mod lines;
mod open;
mod place;

use self::open::Open;
use self::place::{Place, file_error};

/// Texts in a file with one JSON object per line, searched by words like
/// [`InMemory`](super::InMemory).
///
/// Opening reads the file and locks it until the last clone is dropped, so that it cannot be opened
/// as a memory again. The lock is on a second file, which has the same name with `.lock` appended
/// and isn't deleted when the lock is released. Opening blocks while reading the file, and for up
/// to 250 ms if the file is locked; in async code, call it on a blocking thread.
///
/// Each item is appended with one write, without syncing, on a blocking thread. Concurrent calls wait
/// for each other, so that a memory uses at most one such thread for writing. A call that is
/// cancelled while it waits adds nothing; one that is cancelled later may still add its item, but
/// leaves no partial line. Searches are in memory and never wait for the disk; a search of many
/// items also runs on a blocking thread.
///
/// The file is replaced by a new one when it has twice as many lines as the limits allow items, or
/// when it exceeds twice the bytes of the kept items by 64 KiB. On average, an item is written at
/// most about twice. If the file cannot be replaced, items are still added, and it is tried again
/// later. Once the file is as large as a file that can be opened, adding an item fails with
/// [`MemoryError::Full`] and stores nothing.
///
/// When the file is opened, an incomplete last item is forgotten. Any other damage is an error, and
/// so is a line with fields other than `text`, so that a file that isn't a memory is never truncated
/// or rewritten by mistake. A file that is larger than its limits allow is refused: a line may have
/// six bytes for each byte of an item, and the file twice as many as its items could take.
///
/// The file must be a regular file: a link, a named pipe, a device or a folder is an error, and
/// nothing is written through a link. If the file is removed or replaced while it is open, adding
/// the next item fails.
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
    shared: Arc<Shared>,
}

/// What the clones of a memory share.
#[derive(Debug)]
struct Shared {
    /// With a lock of its own, so that a search doesn't wait for the disk.
    items: SharedItems,
    /// Awaited, so that calls that wait for each other take one thread for blocking work.
    open: Arc<Mutex<Open>>,
}

impl Shared {
    /// Blocks while the item is written.
    fn append(
        &self,
        mut open: OwnedMutexGuard<Open>,
        text: &str,
        limits: MemoryLimits,
    ) -> Result<(), MemoryError> {
        let line = open.line(text)?;
        if !open.has_room(&line, limits) {
            open.make_room(&line, &self.items.texts(), limits)?;
        }

        open.append(&line)?;
        let items = self.items.push(self.items.item(text), limits);
        open.keep(line.len() as u64, items);

        if open.is_long(limits) {
            // The item is stored, whether this succeeds or not. If it keeps failing, the file
            // becomes full, which is an error.
            let _ = open.rewrite(&self.items.texts());
        }

        Ok(())
    }
}

impl FileMemory {
    /// Opens or creates a file with the default limits.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be opened, is in use, is larger than its limits allow,
    /// has a line that is longer than an item can be or has other fields, or contains a damaged
    /// line other than an incomplete last one.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, MemoryError> {
        Self::open_with(path, MemoryLimits::default())
    }

    /// Opens or creates a file with these limits.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`open`](Self::open).
    pub fn open_with(path: impl Into<PathBuf>, limits: MemoryLimits) -> Result<Self, MemoryError> {
        let path = path.into();
        let found = Folder::of_file(&path);
        let (folder, name) =
            found.map_err(|source| file_error(path.display().to_string(), source))?;

        Self::open_in(&folder, name, limits)
    }

    /// Opens or creates a file in an open folder with these limits. The file stays in this folder,
    /// even if the folder is renamed or its path is replaced.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`open`](Self::open).
    pub fn open_in(
        folder: &Folder,
        name: impl Into<OsString>,
        limits: MemoryLimits,
    ) -> Result<Self, MemoryError> {
        let place = Place {
            folder: folder.clone(),
            name: name.into(),
        };
        let (open, items) = Open::take(place, limits)?;
        Ok(Self {
            limits,
            shared: Arc::new(Shared {
                items: items.into(),
                open: Arc::new(Mutex::new(open)),
            }),
        })
    }

    /// Checks that the file of this name and its lock file are regular files or don't exist.
    /// Doesn't open, create or change anything.
    ///
    /// # Errors
    ///
    /// Returns an error if either of them is anything else, such as a link, a named pipe or a
    /// folder.
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
        Ok(self.shared.items.search(query, top_k, threshold).await)
    }

    async fn add(&self, text: &str) -> Result<(), MemoryError> {
        self.limits.check(text)?;

        let shared = Arc::clone(&self.shared);
        let limits = self.limits;
        let text = text.to_owned();
        let open = Arc::clone(&shared.open).lock_owned().await;
        let append = move || shared.append(open, &text, limits);

        let Ok(runtime) = Handle::try_current() else {
            return append();
        };

        // It runs to its end when this future is dropped, so that no line is left half written.
        match runtime.spawn_blocking(append).await {
            Ok(appended) => appended,
            Err(error) => Err(MemoryError::Other(format!(
                "the item was not written to the memory file: {error}"
            ))),
        }
    }
}
