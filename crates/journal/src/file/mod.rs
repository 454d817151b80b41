//! A file for each run.

mod line;
mod list;
mod lock;
mod name;
mod open;
mod read;
mod write;

use std::path::PathBuf;

use cogwork_flow::{Flow, Journal};
use serde::Serialize;

use self::open::{Take, open};
use self::write::Files;
use crate::behind::blocking;
use crate::error::Kind;
use crate::header::{FlowIs, Header};
use crate::{RunJournal, RunSummary, StoreError, quote};

/// Keeps each run in a file of its own, in one folder.
///
/// A run's file has the run id for its name, made safe, and ends with `.jsonl`. Its first line says
/// which run it is and what it began with; each further line is an
/// [`Entry`](cogwork_flow::Entry). The last field of
/// every line is a checksum, the CRC-32 of the digits of the checksum before and of the line up to
/// that field. Lines are only added; [folding](cogwork_flow::Run::fold_every) puts a new file in
/// place of the old one. Beside it lie a `.lock` file, which holds the id of the process that ran
/// it last, and for moments a `.new` one. The folder is to hold nothing else that ends so.
///
/// Writing is done on tokio's threads for blocking work, all that is queued in one go, and is
/// followed by `fdatasync`. A last line that a crash cut short is taken away when the run is taken
/// up. Anything else that is not as it was written is an error that names file and line, and the
/// file is left as it is.
///
/// Locks are the operating system's, so they end with the process. Over a network file system
/// they are as good as that is.
///
/// ```
/// use cogwork_flow::{Flow, Wait};
/// use cogwork_journal::{FileStore, RunStatus};
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
/// let stopped = flow.begin().journal(journal).finish(&mut text).await.unwrap_err();
/// assert!(stopped.paused().is_some());
/// assert!(matches!(&store.runs().await?[0].status, RunStatus::Paused { event, .. } if event == "name"));
///
/// // From any process, at any time:
/// store.deliver("greeting 1", "name", &"Ada").await?;
///
/// let journal = store.resume("greeting 1", &flow).await?;
/// let mut text: String = journal.state()?;
/// flow.begin().journal(journal).finish(&mut text).await?;
/// assert_eq!(text, "Hello, Ada");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct FileStore {
    folder: PathBuf,
    sync: bool,
    max_line: usize,
}

/// How every file of a run ends.
const ENDING: &str = ".jsonl";

impl FileStore {
    /// How long a line may be unless [`max_line`](FileStore::max_line) says otherwise: 64 MiB.
    pub const DEFAULT_MAX_LINE: usize = 64 << 20;

    /// A store in this folder, which is made when the first run starts.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into(), sync: true, max_line: Self::DEFAULT_MAX_LINE }
    }

    /// Whether each line is synced to the disk before it counts. Without, a crash of the process
    /// loses nothing, but a crash of the machine may lose the last lines, or damage the file.
    ///
    /// # Default
    ///
    /// It is.
    #[must_use]
    pub fn sync(mut self, sync: bool) -> Self {
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
    /// [`Run::max_outcome`](cogwork_flow::Run::max_outcome) says otherwise.
    #[must_use]
    pub fn max_line(mut self, bytes: usize) -> Self {
        self.max_line = bytes;
        self
    }

    /// Where the file of a run is, or would be.
    pub fn path(&self, run_id: &str) -> PathBuf {
        self.files(run_id).path
    }

    /// Begins a run: puts it on record, with its input.
    ///
    /// # Errors
    ///
    /// When there is a run of this id [already](StoreError::is_already_there), the input cannot
    /// be [written as JSON](StoreError::is_value), or the file cannot be written.
    pub fn start<S>(
        &self,
        run_id: &str,
        flow: &Flow<S>,
        input: &impl Serialize,
    ) -> impl Future<Output = Result<RunJournal, StoreError>> + Send {
        // Here and below all that is borrowed is read before anything waits, so that neither states
        // nor inputs need be `Sync`.
        let header = Header::new(run_id, FlowIs::of(flow), input);
        let files = self.files(run_id);
        async move { open(files, Take::Start(header?)).await }
    }

    /// Takes up a run.
    ///
    /// # Errors
    ///
    /// When there is [none](StoreError::is_missing) of this id, another runner
    /// [has it](StoreError::is_locked), it is one of [another flow](StoreError::is_another_flow)
    /// or of this one before it was changed, or its file is [damaged](StoreError::is_damaged) or
    /// cannot be read.
    pub fn resume<S>(
        &self,
        run_id: &str,
        flow: &Flow<S>,
    ) -> impl Future<Output = Result<RunJournal, StoreError>> + Send {
        let take = Take::Resume(FlowIs::of(flow));
        open(self.files(run_id), take)
    }

    /// Begins a run, or takes it up where there is one of this id: what a program that is started
    /// again after each crash does. The input of a run that is there stays what it was.
    ///
    /// # Errors
    ///
    /// As [`start`](FileStore::start) and [`resume`](FileStore::resume).
    pub fn start_or_resume<S>(
        &self,
        run_id: &str,
        flow: &Flow<S>,
        input: &impl Serialize,
    ) -> impl Future<Output = Result<RunJournal, StoreError>> + Send {
        let header = Header::new(run_id, FlowIs::of(flow), input);
        let (files, flow) = (self.files(run_id), FlowIs::of(flow));
        async move { open(files, Take::Either(header?, flow)).await }
    }

    /// Takes up a run whose flow has changed since: puts the flow as it is now on record, and keeps
    /// all outcomes.
    ///
    /// The run is replayed through the changed flow. Steps that have kept their names find their
    /// outcomes; a run that comes by another node than the one on record is refused there.
    ///
    /// # Errors
    ///
    /// As [`resume`](FileStore::resume), but for the change. A flow of another name is another flow.
    pub fn resume_changed<S>(
        &self,
        run_id: &str,
        flow: &Flow<S>,
    ) -> impl Future<Output = Result<RunJournal, StoreError>> + Send {
        let take = Take::Changed(FlowIs::of(flow));
        open(self.files(run_id), take)
    }

    /// Brings the answer of an event to a run that nobody runs now. The run takes it when it is
    /// taken up and waits for it. For one that runs here, use
    /// [`Run::deliver`](cogwork_flow::Run::deliver).
    ///
    /// # Errors
    ///
    /// When there is [none](StoreError::is_missing) of this id, it [runs](StoreError::is_locked) or
    /// [has ended](StoreError::is_ended), the answer cannot be [written as JSON](StoreError::is_value),
    /// or its file is [damaged](StoreError::is_damaged) or cannot be read or written.
    pub fn deliver(
        &self,
        run_id: &str,
        event: &str,
        answer: &impl Serialize,
    ) -> impl Future<Output = Result<(), StoreError>> + Send {
        let answer = serde_json::to_vec(answer).map_err(|error| {
            let event = quote::name(event);
            StoreError::new(
                Kind::Value,
                format_args!("the answer to `{event}` cannot be written as JSON: {error}"),
            )
        });
        let (files, event) = (self.files(run_id), event.to_owned());
        async move {
            let answer = answer?;
            let place = files.place();
            let journal = open(files, Take::Deliver).await?;
            journal.deliver(&event, answer).await.map_err(|error| StoreError::of_journal(&place, error))
        }
    }

    /// All runs in the folder, by their ids in order. Each file is read whole; a run that is at work
    /// is not disturbed.
    ///
    /// A file that is no record of a run is listed as [damaged](crate::RunStatus::Damaged), by its name
    /// where the run id cannot be read.
    ///
    /// # Errors
    ///
    /// When the folder cannot be read. One that is not there has no runs.
    pub async fn runs(&self) -> Result<Vec<RunSummary>, StoreError> {
        let store = self.clone();
        blocking(self.folder.display().to_string(), move || store.list()).await
    }

    fn files(&self, run_id: &str) -> Files {
        let (name, folder) = (name::safe(run_id), &self.folder);
        Files {
            run_id: run_id.to_owned(),
            folder: folder.clone(),
            path: folder.join(format!("{name}{ENDING}")),
            lock: folder.join(format!("{name}.lock")),
            new: folder.join(format!("{name}.new")),
            sync: self.sync,
            max_line: self.max_line,
        }
    }
}
