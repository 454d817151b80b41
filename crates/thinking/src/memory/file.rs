use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use super::words::Items;
use super::{Found, Memory, MemoryError, MemoryLimits};

/// Texts in a file, one JSON object a line, found by their words as in [`InMemory`](super::InMemory).
///
/// The file is read when it is opened, and locked against other processes until the last clone is gone.
/// An item is appended by one write, without waiting for the disk. A last line that began as an item and was
/// not written whole is forgotten; any other damage is an error, so that nobody's file is cut down by mistake.
/// When the file holds twice as many lines as are kept, it is written anew beside itself and put in its place.
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
    path: Arc<Path>,
    open: Arc<Mutex<Open>>,
}

#[derive(Debug)]
struct Open {
    file: File,
    items: Items,
    /// How many lines the file has, forgotten ones included.
    lines: usize,
    /// Where the last whole line ends. What stands behind it is what is left of a broken write.
    end: u64,
}

#[derive(Serialize, Deserialize)]
struct Line<'a> {
    text: std::borrow::Cow<'a, str>,
}

impl FileMemory {
    /// Opens the file with the default limits; makes it if there is none.
    ///
    /// # Errors
    ///
    /// When it cannot be opened, another process has it, a line is damaged in another way than by a write that
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
        let path: Arc<Path> = path.into().into();
        let failed = |source| file_error(&path, source);
        let file = OpenOptions::new().read(true).append(true).create(true).open(&path).map_err(failed)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(MemoryError::InUse(path.display().to_string())),
            Err(TryLockError::Error(source)) => return Err(failed(source)),
        }
        let most = most_bytes(limits);
        let bytes = file.metadata().map_err(failed)?.len();
        if bytes > most {
            return Err(MemoryError::TooLong {
                what: format!("the memory file {}", path.display()),
                bytes,
                most,
            });
        }
        let open = read(file, &path, limits)?;
        Ok(Self { limits, path, open: Arc::new(Mutex::new(open)) })
    }
}

/// Twice the items, each escaped to six times its length at worst.
fn most_bytes(limits: MemoryLimits) -> u64 {
    let line = (limits.item_bytes() as u64).saturating_mul(6).saturating_add(16);
    line.saturating_mul(limits.items() as u64).saturating_mul(2)
}

/// Whether a line can be what is left of an item whose write broke off, or of a page that never came to the
/// disk. Any other last line is somebody's, and would be cut off by the next item.
fn may_be_left(line: &[u8]) -> bool {
    const BEGINNING: &[u8] = b"{\"text\":\"";
    line.starts_with(BEGINNING)
        || BEGINNING.starts_with(line)
        || line.iter().all(|byte| *byte == 0 || byte.is_ascii_whitespace())
}

fn read(file: File, path: &Path, limits: MemoryLimits) -> Result<Open, MemoryError> {
    let failed = |source| file_error(path, source);
    let (mut items, mut lines, mut end) = (Items::default(), 0, 0);
    let mut reader = BufReader::new((&file).take(most_bytes(limits)));
    let mut line = Vec::new();
    // Of a line that is no item it is known only at the next one that it was not the last.
    let mut is_damaged = false;
    loop {
        line.clear();
        let bytes = reader.read_until(b'\n', &mut line).map_err(failed)?;
        if bytes == 0 {
            break;
        }
        if is_damaged {
            return Err(MemoryError::Damaged { path: path.display().to_string(), line: lines + 1 });
        }
        match serde_json::from_slice::<Line<'_>>(&line) {
            // Without its end a line may be the beginning of another one.
            Ok(item) if line.ends_with(b"\n") => {
                if limits.check(&item.text).is_ok() {
                    items.add(&item.text, limits.items());
                }
                lines += 1;
                end += bytes as u64;
            }
            _ if may_be_left(&line) => is_damaged = true,
            _ => return Err(MemoryError::Damaged { path: path.display().to_string(), line: lines + 1 }),
        }
    }
    Ok(Open { file, items, lines, end })
}

impl Open {
    fn append(&mut self, text: &str, path: &Path, limits: MemoryLimits) -> io::Result<()> {
        let line = line(text)?;
        if self.file.seek(SeekFrom::End(0))? != self.end {
            self.file.set_len(self.end)?;
        }
        self.file.write_all(&line)?;
        self.end += line.len() as u64;
        self.lines += 1;
        self.items.add(text, limits.items());
        if self.lines >= limits.items().saturating_mul(2) {
            self.rewrite(path)?;
        }
        Ok(())
    }

    fn rewrite(&mut self, path: &Path) -> io::Result<()> {
        let mut beside = path.as_os_str().to_owned();
        beside.push(".new");
        let lines: Vec<_> = self.items.texts().map(line).collect::<io::Result<_>>()?;
        let whole = lines.concat();
        let mut file = OpenOptions::new().read(true).append(true).create(true).open(&beside)?;
        // Locked before it has its name, so that no other process can come between.
        file.try_lock().map_err(io::Error::from)?;
        file.set_len(0)?;
        file.write_all(&whole)?;
        file.sync_all()?;
        std::fs::rename(&beside, path)?;
        (self.file, self.lines, self.end) = (file, self.items.len(), whole.len() as u64);
        Ok(())
    }
}

fn line(text: &str) -> io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(&Line { text: text.into() })?;
    line.push(b'\n');
    Ok(line)
}

fn file_error(path: &Path, source: io::Error) -> MemoryError {
    MemoryError::File { path: path.display().to_string(), source }
}

#[async_trait]
impl Memory for FileMemory {
    async fn search(&self, query: &str, top_k: usize, threshold: f32) -> Result<Vec<Found>, MemoryError> {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(open.items.search(query, top_k, threshold))
    }

    // Without an await inside, so that no line is left half written by a caller that gives up.
    async fn add(&self, text: &str) -> Result<(), MemoryError> {
        self.limits.check(text)?;
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.append(text, &self.path, self.limits).map_err(|source| file_error(&self.path, source))
    }
}
