//! A file for each run.

mod list;
mod open;
mod read;
mod write;

use std::path::PathBuf;

use cogwork_text::files::Folder;

use crate::behind::blocking;
use crate::folder::StoreFolder;
use crate::store::Kept;
use crate::{RunSummary, Store, StoreError};

/// A store that keeps each run in its own file, in one folder.
///
/// The file is named after the run id, with unsafe characters escaped, and ends with `.jsonl`. Its
/// first line contains the run id and the input; each further line is a time in milliseconds since 1970
/// and an [`Entry`](cogwork_flow::journal::Entry). Every line begins with the CRC-32 of the
/// rest of it, and then has a space, or a `+` if it was written together with the previous line. Lines are only appended;
/// [folding](cogwork_flow::Run::with_fold_every) replaces the file. Next to it, there is a `.lock`
/// file with the id of the last process that ran the run and, while the file is being created or
/// replaced, a `.new` file. The folder must not contain other files with these endings. Anything
/// other than a regular file under one of these names, such as a link, is an error.
///
/// Files are written on tokio's blocking threads: everything that is queued is written at once and
/// followed by `fdatasync`. When a run is resumed, lines that a crash or a power cut left
/// incomplete are removed from the end of the file. If anything else was modified, the error names
/// the file and the line, and the file is left unchanged.
///
/// Runs are locked with locks of the operating system, which are released when the process ends. On
/// a network file system, they are only as reliable as its locks. Lock files aren't removed when a
/// run ends, and must not be removed while it is in use. An open run uses two file descriptors, and a
/// store uses one.
///
/// ```
/// use cogwork_flow::{Flow, Wait};
/// use cogwork_journal::{FileStore, RunStatus, Store};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// # let folder = folder.path();
/// let ask = Wait::for_event("name", |text: &mut String, name: String| text.push_str(&name));
/// let flow = Flow::builder("greet").start("ask").wait("ask", ask).end("ask", "default").build()?;
///
/// let store = FileStore::new(folder);
/// let journal = store.start("greeting 1", &flow, &"Hello, ").await?;
/// let mut text: String = journal.state()?;
/// let stopped = flow.begin().with_journal(journal).finish(&mut text).await.unwrap_err();
/// assert!(stopped.paused().is_some());
/// assert!(matches!(&store.runs().await?[0].status, RunStatus::Paused { waits } if waits[0].event == "name"));
///
/// // From any process, at any time:
/// store.deliver("greeting 1", "name", &"Ada").await?;
///
/// let journal = store.resume("greeting 1", &flow).await?;
/// let mut text: String = journal.state()?;
/// flow.begin().with_journal(journal).finish(&mut text).await?;
/// assert_eq!(text, "Hello, Ada");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct FileStore {
    location: StoreFolder,
    sync: bool,
    max_line: usize,
}

/// The ending of the file of each run.
const ENDING: &str = ".jsonl";

impl FileStore {
    /// The default maximum length of a line: 64 MiB.
    pub const DEFAULT_MAX_LINE: usize = 64 << 20;

    /// Creates a store in this folder. The folder is created when the first run starts.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self {
            location: StoreFolder::new(folder.into()),
            sync: true,
            max_line: Self::DEFAULT_MAX_LINE,
        }
    }

    /// Sets whether each line is synced to disk before it counts as recorded. If `false`, a crash
    /// of the process loses nothing, but a crash of the machine may lose the last lines or damage
    /// the file.
    ///
    /// # Default
    ///
    /// `true`.
    #[must_use]
    pub fn with_sync(mut self, sync: bool) -> Self {
        self.sync = sync;
        self
    }

    /// Sets the maximum length of a line in bytes. A line contains an outcome, a snapshot or an
    /// input, and some more bytes. A longer line isn't written and stops the run with an error; a
    /// file with a longer line isn't read.
    ///
    /// # Default
    ///
    /// [`FileStore::DEFAULT_MAX_LINE`]. The default maximum for an outcome is 16 MiB; see
    /// [`Run::with_max_outcome`](cogwork_flow::Run::with_max_outcome).
    #[must_use]
    pub fn with_max_line(mut self, bytes: usize) -> Self {
        self.max_line = bytes;
        self
    }

    /// Returns the path of the file of a run.
    pub fn path(&self, run_id: &str) -> PathBuf {
        self.files(run_id).path
    }

    fn files(&self, run_id: &str) -> Files {
        let name = cogwork_text::files::safe_name(run_id);
        let lines = format!("{name}{ENDING}");
        Files {
            run_id: run_id.to_owned(),
            location: self.location.clone(),
            path: self.location.path().join(&lines),
            lines,
            lock: format!("{name}.lock"),
            new: format!("{name}.new"),
            sync: self.sync,
            max_line: self.max_line,
        }
    }
}

/// [`runs`](Store::runs) reads each file completely. A file that isn't the record of a run is
/// listed as [damaged](crate::RunStatus::Damaged), under the name of the file if the run id cannot
/// be read.
impl Store for FileStore {
    fn kept(&self, run_id: &str) -> Kept {
        Kept(Box::new(self.files(run_id)))
    }

    fn place(&self) -> String {
        self.location.path().display().to_string()
    }

    async fn list(&self) -> Result<Vec<RunSummary>, StoreError> {
        let store = self.clone();
        blocking(self.place(), move || store.read_all()).await
    }
}

/// The files of a run, and how they are written.
#[derive(Debug, Clone)]
struct Files {
    run_id: String,
    location: StoreFolder,
    /// The path of the file with the lines, for messages.
    path: PathBuf,
    /// The name of that file.
    lines: String,
    lock: String,
    /// The file that replaces the lines once it is complete. Its name is fixed, so that leftovers
    /// of a crash are found.
    new: String,
    sync: bool,
    max_line: usize,
}

/// The files of a run and their folder, which is open.
#[derive(Clone)]
struct RunFolder {
    files: Files,
    folder: Folder,
}
