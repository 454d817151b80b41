use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use cogwork_text::files::{Access, Error, Folder, LockError, LockFile};
use serde::{Deserialize, Serialize};
use tokio::runtime::Handle;
use tokio::sync::Mutex;

use super::words::SharedItems;
use super::{Found, Memory, MemoryError, MemoryLimits};

/// The maximum size of a file that is read.
const MOST_BYTES: u64 = 1024 * 1024 * 1024;

/// How long opening waits for a lock. A child process inherits the lock until it has started its program, so a lock that
/// was released a moment ago can still be held.
const PATIENCE: Duration = Duration::from_millis(250);

/// The beginning of a line.
const BEGINNING: &[u8] = b"{\"text\":\"";

/// Texts in a file with one JSON object per line, searched by words like
/// [`InMemory`](super::InMemory).
///
/// Opening reads the file and locks it until the last clone is dropped, so that it cannot be opened
/// as a memory again. The lock is on a second file, which has the same name with `.lock` appended
/// and isn't deleted when the lock is released. Opening blocks while reading the file; in async
/// code, call it on a blocking thread.
///
/// Each item is appended with one write, without syncing, on a blocking thread. Concurrent calls wait
/// for each other, so that a memory uses at most one such thread for writing. A call that is
/// cancelled while it waits adds nothing; one that is cancelled later may still add its item, but
/// leaves no partial line. Searches are in memory and never wait for the disk.
///
/// The file is replaced by a new one when it has twice as many lines as items are kept.
///
/// When the file is opened, an incomplete last item is forgotten. Any other line that isn't an item
/// is an error, and so is a line with fields other than `text`, so that a file that isn't a memory is
/// never truncated or rewritten by mistake. The file must be a regular file.
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
    /// With a lock of its own, so that a search doesn't wait for the disk.
    items: SharedItems,
    /// Awaited, so that calls that wait for each other take one thread for blocking work.
    file: Arc<Mutex<OpenFile>>,
}

impl FileMemory {
    /// Opens or creates a file with the default limits.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be opened, is in use, or contains a line that isn't an
    /// item, other than an incomplete last one.
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
        let items = SharedItems::default();
        let file = OpenFile::open(folder.clone(), name.into(), &items, limits)?;

        Ok(Self {
            limits,
            items,
            file: Arc::new(Mutex::new(file)),
        })
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
        Ok(self.items.search(query, top_k, threshold))
    }

    async fn add(&self, text: &str) -> Result<(), MemoryError> {
        self.limits.check(text)?;

        let mut file = Arc::clone(&self.file).lock_owned().await;
        let items = self.items.clone();
        let limits = self.limits;
        let text = text.to_owned();
        let mut add = move || file.add(&text, &items, limits);

        let Ok(runtime) = Handle::try_current() else {
            return add();
        };

        // It runs to its end when this future is dropped, so that no line is left half written.
        match runtime.spawn_blocking(add).await {
            Ok(added) => added,
            Err(error) => Err(MemoryError::Other(format!(
                "the item was not written to the memory file: {error}"
            ))),
        }
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line<'a> {
    text: Cow<'a, str>,
}

impl Line<'_> {
    fn written(text: &str) -> io::Result<Vec<u8>> {
        let mut line = serde_json::to_vec(&Line { text: text.into() })?;
        line.push(b'\n');
        Ok(line)
    }
}

/// A memory file that is open and locked.
#[derive(Debug)]
struct OpenFile {
    folder: Folder,
    name: OsString,
    file: File,
    _lock: LockFile,
    /// The number of lines in the file, including forgotten items.
    lines: usize,
    /// The end of the last complete line. Anything after it is left from an interrupted write.
    end: u64,
}

impl OpenFile {
    /// Opens the file, and adds its texts to `items`.
    fn open(
        folder: Folder,
        name: OsString,
        items: &SharedItems,
        limits: MemoryLimits,
    ) -> Result<Self, MemoryError> {
        let path = folder.path_of(&name).display().to_string();
        let failed = |source: Error| file_error(path.clone(), source);

        // Before creating a lock file for something that isn't a memory file.
        folder.has_file(&name).map_err(failed)?;
        let lock = lock(&folder, &name)?;
        let file = folder
            .open_or_create(&name, Access::Append)
            .map_err(failed)?;
        folder.remove_leftovers(&name).map_err(failed)?;
        let content = cogwork_text::files::read(&file, MOST_BYTES).map_err(failed)?;

        let mut open = Self {
            folder,
            name,
            file,
            _lock: lock,
            lines: 0,
            end: 0,
        };

        for line in content.split_inclusive(|byte| *byte == b'\n') {
            if !line.ends_with(b"\n") && may_be_left(line) {
                break;
            }

            let text = text_of(line).ok_or_else(|| MemoryError::Damaged {
                path: path.clone(),
                line: open.lines + 1,
            })?;
            if limits.check(&text).is_ok() {
                items.push(&text, limits);
            }
            open.lines += 1;
            open.end += line.len() as u64;
        }

        Ok(open)
    }

    /// Adds an item. Blocks while it is written.
    fn add(
        &mut self,
        text: &str,
        items: &SharedItems,
        limits: MemoryLimits,
    ) -> Result<(), MemoryError> {
        self.append(text).map_err(|source| self.error(source))?;
        let kept = items.push(text, limits);

        // A rewrite removes at least as many lines as it writes.
        if self.lines > kept && self.lines >= 2 * kept {
            self.rewrite(&items.texts())
                .map_err(|source| self.error(source))?;
        }

        Ok(())
    }

    fn append(&mut self, text: &str) -> io::Result<()> {
        let line = Line::written(text)?;
        if self.file.seek(SeekFrom::End(0))? != self.end {
            self.file.set_len(self.end)?;
        }

        self.file.write_all(&line)?;
        self.end += line.len() as u64;
        self.lines += 1;

        Ok(())
    }

    /// Replaces the file by one that contains only the items that are kept.
    fn rewrite(&mut self, kept: &[Arc<str>]) -> io::Result<()> {
        let lines = kept.iter().map(|text| Line::written(text));
        let whole = lines.collect::<io::Result<Vec<_>>>()?.concat();

        let mut new = self.folder.temporary(&self.name)?;
        new.write_all(&whole)?;
        new.file().sync_all()?;
        self.file = new.put_in_place()?;
        self.lines = kept.len();
        self.end = whole.len() as u64;
        self.folder.sync()?;

        Ok(())
    }

    fn error(&self, source: io::Error) -> MemoryError {
        file_error(
            self.folder.path_of(&self.name).display().to_string(),
            source,
        )
    }
}

/// Locks the file that stands for the memory file, which is replaced now and then.
fn lock(folder: &Folder, name: &OsStr) -> Result<LockFile, MemoryError> {
    let mut lock = name.to_owned();
    lock.push(".lock");

    LockFile::lock_within(folder, &lock, PATIENCE).map_err(|error| match error {
        LockError::InUse { holder } => MemoryError::InUse {
            path: folder.path_of(name).display().to_string(),
            holder,
        },
        LockError::File(source) => file_error(folder.path_of(&lock).display().to_string(), source),
        other => MemoryError::Other(other.to_string()),
    })
}

/// Returns the text of a line, unless it isn't an item.
fn text_of(line: &[u8]) -> Option<String> {
    // Serde reads a list as a struct, too.
    let is_item = line.ends_with(b"\n") && line.starts_with(b"{");
    let item = serde_json::from_slice::<Line<'_>>(line).ok();

    item.filter(|_| is_item).map(|item| item.text.into_owned())
}

/// Returns whether text at the end of a file may be left from an interrupted write, or from a page
/// that never reached the disk. Any other text wasn't written by a memory.
fn may_be_left(line: &[u8]) -> bool {
    let is_blank = line.iter().all(|byte| *byte == 0);
    is_blank || line.starts_with(BEGINNING) || BEGINNING.starts_with(line)
}

fn file_error(path: String, source: impl Into<io::Error>) -> MemoryError {
    MemoryError::File {
        path,
        source: source.into(),
    }
}
