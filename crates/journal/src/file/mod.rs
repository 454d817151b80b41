//! A file for each run.

mod files;
mod list;
mod open;
mod read;
mod write;

use std::path::PathBuf;

use self::files::Files;
use crate::folder::StoreFolder;
use crate::store::Kept;
use crate::{RunSummary, Store, StoreError, name};

/// Keeps each run in a file of its own, in one folder.
///
/// A run's file has the run id for its name, made safe, and ends with `.jsonl`. Its first line says
/// which run it is and what it began with; each further line is an
/// [`Entry`](cogwork_flow::journal::Entry). The last field of
/// every line is a checksum, the CRC-32 of the digits of the checksum before and of the line up to
/// that field. A line that was written in one go with the one before it says so with a field `joined`
/// before that. Lines are only added; [folding](cogwork_flow::Run::with_fold_every) puts a new file in
/// place of the old one. Beside it lie a `.lock` file, which holds the id of the process that ran
/// it last, and for moments a `.new` one. The folder is to hold nothing else that ends so: what is no
/// regular file under such a name, such as a link, is an error.
///
/// Writing is done on tokio's threads for blocking work, all that is queued in one go, and is
/// followed by `fdatasync`. What a crash or a power cut has left unwritten of the lines that were written
/// last is taken away when the run is taken up, with all that follows it. Anything else that is not as it
/// was written is an error that names file and line, and the file is left as it is. So is a file that is
/// removed, moved or replaced while its run is at work: that is seen with the next line at the latest, and
/// the run stops there.
///
/// Locks are the operating system's, so they end with the process. Over a network file system
/// they are as good as that is. Lock files stay when a run is done. On Unix the run's file is locked too,
/// so removing a lock file lets nobody in. A run that is open takes two file descriptors, and a store one.
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

/// How every file of a run ends.
const ENDING: &str = ".jsonl";

impl FileStore {
    /// How long a line may be unless [`with_max_line`](FileStore::with_max_line) says otherwise: 64 MiB.
    pub const DEFAULT_MAX_LINE: usize = 64 << 20;

    /// A store in this folder, which is made when the first run starts.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self {
            location: StoreFolder::new(folder.into()),
            sync: true,
            max_line: Self::DEFAULT_MAX_LINE,
        }
    }

    /// Whether each line is synced to the disk before it counts. Without, a crash of the process
    /// loses nothing, but a crash of the machine may lose the last lines, or damage the file.
    ///
    /// # Default
    ///
    /// It is.
    #[must_use]
    pub fn with_sync(mut self, sync: bool) -> Self {
        self.sync = sync;
        self
    }

    /// How long a line may be, in bytes: an outcome, a snapshot or an input, and some more for what
    /// stands around it. One that is longer is not written, and fails the run; a file that holds
    /// one is not read.
    ///
    /// # Default
    ///
    /// [`FileStore::DEFAULT_MAX_LINE`]; an outcome may have 16 MiB unless
    /// [`Run::with_max_outcome`](cogwork_flow::Run::with_max_outcome) says otherwise.
    #[must_use]
    pub fn with_max_line(mut self, bytes: usize) -> Self {
        self.max_line = bytes;
        self
    }

    /// Where the file of a run is, or would be.
    pub fn path(&self, run_id: &str) -> PathBuf {
        self.files(run_id).path
    }

    fn files(&self, run_id: &str) -> Files {
        let name = name::safe(run_id);
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

/// [`runs`](Store::runs) reads each file whole. A file that is no record of a run is listed as
/// [damaged](crate::RunStatus::Damaged), by its name where the run id cannot be read.
impl Store for FileStore {
    fn kept(&self, run_id: &str) -> Kept {
        Kept(Box::new(self.files(run_id)))
    }

    fn place(&self) -> String {
        self.location.path().display().to_string()
    }

    fn list(&self) -> Result<Vec<RunSummary>, StoreError> {
        self.read_all()
    }
}
