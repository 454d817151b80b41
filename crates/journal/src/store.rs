use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cogwork_flow::Flow;
use cogwork_flow::engine::{Entry, Journal as _, Json};
use cogwork_text::Name;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::runtime::Handle;

use crate::backend::{Backend, Expected, Taken};
use crate::error::Kind;
use crate::file::Files;
use crate::header::Header;
use crate::record::{Line, Reader, Record, Wanted, check_order};
use crate::write::Writer;
use crate::{
    EventLine, Fork, ForkPreview, RecordedEntry, RunJournal, RunQuery, RunSummary, StoreError,
};

/// A store of runs: a folder of [files](Store::files), a [SQLite](Store::sqlite) database, or a
/// PostgreSQL database.
///
/// All stores do the same. Each run has a record of lines, of which the first has its id and its
/// input, and each further one is an [`Entry`]. To store runs elsewhere, implement
/// [`Log`](cogwork_flow::engine::Log).
///
/// ```
/// use cogwork_flow::{Flow, from_fn};
/// use cogwork_journal::Store;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// # let place = folder.path().join("runs");
/// # let place = place.to_str().unwrap_or_default();
/// let flow = Flow::builder("count")
///     .start("one")
///     .node("one", from_fn(|n: &mut u32| *n += 1))
///     .end("one", "default")
///     .build()?;
///
/// let store = Store::at(place)?;
/// let journal = store.start_or_resume("first", &flow, &41).await?;
/// let mut n = journal.state()?;
/// flow.begin().with_journal(journal).finish(&mut n).await?;
/// assert_eq!(n, 42);
/// assert_eq!(store.runs().await?.len(), 1);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Store(Arc<dyn Backend>);

impl Store {
    /// Returns the store in a folder, with a file for each run. The folder is created when the first
    /// run starts.
    ///
    /// The file is named after the run id, with unsafe characters escaped, and ends with `.jsonl`.
    /// Its first line contains the run id and the input; each further line is a time in milliseconds
    /// since 1970 and an [`Entry`]. Every line begins with the CRC-32 of the rest of it, and then has
    /// a space, or a `+` if it was written together with the previous line. Lines are only appended;
    /// [folding](cogwork_flow::Run::with_fold_every) replaces the file. Next to it, there is a `.lock`
    /// file with the id of the last process that ran the run and, while the file is being created or
    /// replaced, a `.new` file. The folder must not contain other files with these endings. Anything
    /// other than a regular file under one of these names, such as a link, is an error.
    ///
    /// Everything that is queued is written at once and followed by `fdatasync`. When a run is
    /// resumed, lines that a crash or a power cut left incomplete are ignored, and removed by the next
    /// write. If anything else was modified, the error names the file and the line, and the file is
    /// left unchanged. A file that isn't the record of a run is listed as
    /// [damaged](crate::RunStatus::Damaged), under the name of the file if the run id cannot be read.
    ///
    /// Runs are locked with locks of the operating system, which are released when the process ends.
    /// On a network file system, they are only as reliable as its locks. Lock files aren't removed when
    /// a run ends, and must not be removed while it is in use. An open run uses two file descriptors,
    /// and a store uses one.
    pub fn files(folder: impl Into<PathBuf>) -> Self {
        Self(Arc::new(Files::new(folder.into())))
    }

    /// Returns the store in a SQLite database, which keeps many runs in one file. The file is created
    /// when the first run starts.
    ///
    /// The table `lines` contains the lines of each run as JSON; `runs` has one row per run with its id,
    /// flow, start and status; `waits` has one row for each waiting step, with the number of its line.
    /// Other programs may read all three tables, and so may SQLite's own tools:
    ///
    /// ```sql
    /// SELECT id, started FROM runs JOIN waits ON run = key WHERE status = 'paused' AND event = 'approval';
    /// SELECT line FROM lines JOIN runs ON run = key WHERE id = 'order-17' ORDER BY number;
    /// ```
    ///
    /// Entries of concurrent runs share transactions: those that are queued while one transaction is
    /// synced go into the next. The database is in WAL mode, so readers don't block. Several processes
    /// on the same machine can use it. The locks of its runs are in a folder next to it,
    /// `runs.db-locks`, which must not be removed while a run is in use. On Unix, only the current user
    /// can read and write a new database.
    #[cfg(feature = "sqlite")]
    pub fn sqlite(path: impl Into<PathBuf>) -> Self {
        Self(Arc::new(crate::sqlite::Sqlite::new(path.into())))
    }

    /// Returns the store in a PostgreSQL database, with the default settings of
    /// [`PostgresStore`](crate::PostgresStore).
    ///
    /// # Errors
    ///
    /// Returns an error if the connection string is invalid.
    #[cfg(feature = "postgres")]
    pub fn postgres(url: &str) -> Result<Self, StoreError> {
        crate::PostgresStore::new(url).map(Into::into)
    }

    /// Returns the store at this place: a PostgreSQL database if it begins with `postgres://` or
    /// `postgresql://`, a SQLite database if it is a file or ends with `.db`, `.sqlite` or
    /// `.sqlite3`, and a folder otherwise. Nothing is created or connected before the first use.
    ///
    /// # Errors
    ///
    /// Returns an error if the address of a PostgreSQL database is invalid, or if this crate was
    /// built without the feature that the place needs.
    pub fn at(place: &str) -> Result<Self, StoreError> {
        if place.starts_with("postgres://") || place.starts_with("postgresql://") {
            #[cfg(feature = "postgres")]
            return Self::postgres(place);
            #[cfg(not(feature = "postgres"))]
            return Err(without("postgres", "PostgreSQL"));
        }

        let path = Path::new(place);
        let ending = path.extension().and_then(|ending| ending.to_str());
        let is_named_so = matches!(ending, Some("db" | "sqlite" | "sqlite3"));
        if path.is_file() || (is_named_so && !path.is_dir()) {
            #[cfg(feature = "sqlite")]
            return Ok(Self::sqlite(path));
            #[cfg(not(feature = "sqlite"))]
            return Err(without(place, "SQLite"));
        }

        Ok(Self::files(path))
    }

    #[cfg(feature = "postgres")]
    pub(crate) fn over(backend: Arc<dyn Backend>) -> Self {
        Self(backend)
    }

    /// Starts a run and records its input.
    ///
    /// # Errors
    ///
    /// Returns an error if a run with this id [already exists](StoreError::is_already_there), if
    /// the input cannot be [written as JSON](StoreError::is_value), or if the store cannot be
    /// written.
    pub fn start<S>(
        &self,
        run_id: &str,
        flow: &Flow<S>,
        input: &impl Serialize,
    ) -> impl Future<Output = Result<RunJournal, StoreError>> + Send {
        // Here and below, everything borrowed is read before the first `await`, so that neither
        // states nor inputs need be `Sync`.
        let opener = self.opener(run_id);
        let header = Header::new(run_id, flow.graph(), input);
        async move { opener.open(Some(header?.into()), None).await }
    }

    /// Resumes a run.
    ///
    /// # Errors
    ///
    /// Returns an error if the run [doesn't exist](StoreError::is_missing), if it is [in
    /// use](StoreError::is_locked), if it belongs to a [different
    /// flow](StoreError::is_another_flow) or to an earlier version of this one, or if its record is
    /// [damaged](StoreError::is_damaged) or cannot be read.
    pub fn resume<S>(
        &self,
        run_id: &str,
        flow: &Flow<S>,
    ) -> impl Future<Output = Result<RunJournal, StoreError>> + Send {
        let wanted = Wanted::flow(flow.graph());
        self.opener(run_id).open(None, Some(wanted))
    }

    /// Resumes the run with this id, or starts it if it doesn't exist. A program that is restarted
    /// after a crash needs only this method.
    ///
    /// A run that exists must have been started with the same input. Otherwise it would return the
    /// results of a different input, for instance of yesterday's problem. Inputs are compared as
    /// JSON values, so the order of keys doesn't matter, but the order of items in a list does: a
    /// `HashSet` is a different input each time, a `BTreeSet` isn't. If the input contains something
    /// that differs in each start, such as the current time, use
    /// [`start_or_resume_any_input`](Store::start_or_resume_any_input).
    ///
    /// # Errors
    ///
    /// Returns an error if the run was started with a [different
    /// input](StoreError::is_another_input), and otherwise the same errors as
    /// [`start`](Store::start) and [`resume`](Store::resume).
    pub fn start_or_resume<S>(
        &self,
        run_id: &str,
        flow: &Flow<S>,
        input: &impl Serialize,
    ) -> impl Future<Output = Result<RunJournal, StoreError>> + Send {
        let opener = self.opener(run_id);
        let header = Header::new(run_id, flow.graph(), input);
        let flow = flow.graph();
        async move {
            let header = header?;
            let wanted = Wanted {
                input: Some(header.input.clone()),
                ..Wanted::flow(flow)
            };
            opener.open(Some(header.into()), Some(wanted)).await
        }
    }

    /// Resumes the run with this id with its recorded input, whatever that is, or starts it with
    /// this input if it doesn't exist.
    ///
    /// # Errors
    ///
    /// The same as [`start`](Store::start) and [`resume`](Store::resume).
    pub fn start_or_resume_any_input<S>(
        &self,
        run_id: &str,
        flow: &Flow<S>,
        input: &impl Serialize,
    ) -> impl Future<Output = Result<RunJournal, StoreError>> + Send {
        let opener = self.opener(run_id);
        let header = Header::new(run_id, flow.graph(), input);
        let wanted = Wanted::flow(flow.graph());
        async move { opener.open(Some(header?.into()), Some(wanted)).await }
    }

    /// Resumes a run whose flow has changed: records the current flow and keeps all outcomes.
    ///
    /// The run is replayed through the changed flow. Steps with the same names use their recorded
    /// outcomes. If the run visits a different node than the recorded one, it fails at that step.
    ///
    /// # Errors
    ///
    /// The same as [`resume`](Store::resume), except that the flow may have changed. A flow with a
    /// different name counts as a different flow.
    pub fn resume_changed<S>(
        &self,
        run_id: &str,
        flow: &Flow<S>,
    ) -> impl Future<Output = Result<RunJournal, StoreError>> + Send {
        let wanted = Wanted {
            may_have_changed: true,
            ..Wanted::flow(flow.graph())
        };
        self.opener(run_id).open(None, Some(wanted))
    }

    /// Starts a new run with a part of the record of this one, for example to try a different model or
    /// reply from a certain step on. See [`Fork`].
    ///
    /// The run isn't locked and may be in use; the fork has what was on record when it was read. The
    /// new run exists completely or not at all.
    ///
    /// # Errors
    ///
    /// Returns an error if the run [doesn't exist](StoreError::is_missing), if it belongs to a
    /// [different flow](StoreError::is_another_flow) or, unless the fork [allows
    /// it](Fork::with_changed_flow), to an earlier version of this one, if it cannot be forked [at
    /// this step](StoreError::is_unknown_step), if a run with the id of the fork [already
    /// exists](StoreError::is_already_there) or is [in use](StoreError::is_locked), if a state or an
    /// outcome cannot be [written or read as JSON](StoreError::is_value), if the record is
    /// [damaged](StoreError::is_damaged), or if the store cannot be read or written.
    pub fn fork<S>(
        &self,
        run_id: &str,
        flow: &Flow<S>,
        fork: Fork<S>,
    ) -> impl Future<Output = Result<RunJournal, StoreError>> + Send {
        fork.start(self, run_id, flow)
    }

    /// Returns what a fork would begin with, without starting it: the outcomes that it could edit, and
    /// the state before its first step, for example for a form in which a person edits them.
    ///
    /// The steps that the fork keeps are replayed in memory. So this also checks that the flow visits
    /// the same nodes, and that it can read the edited outcomes and states.
    ///
    /// The run must have begun with its input as its state.
    ///
    /// ```
    /// # use cogwork_flow::{Flow, from_fn};
    /// # use cogwork_journal::{Fork, Store};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let folder = tempfile::tempdir()?;
    /// # let store = Store::files(folder.path());
    /// # let flow = Flow::builder("add")
    /// #     .node("one", from_fn(|n: &mut u32| *n += 1))
    /// #     .node("two", from_fn(|n: &mut u32| *n += 2))
    /// #     .chain(["one", "two"])
    /// #     .build()?;
    /// # let journal = store.start("order-17", &flow, &40).await?;
    /// # flow.begin().with_journal(journal).finish(&mut 40).await?;
    /// let preview = store.preview_fork("order-17", &flow, Fork::at(2)).await?;
    /// assert_eq!(preview.state, 41);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Returns the errors of [`fork`](Self::fork) that aren't about the new run, and an error if the
    /// flow cannot replay the steps.
    pub fn preview_fork<S>(
        &self,
        run_id: &str,
        flow: &Flow<S>,
        fork: Fork<S>,
    ) -> impl Future<Output = Result<ForkPreview<S>, StoreError>> + Send
    where
        S: Serialize + DeserializeOwned + Send + 'static,
    {
        fork.preview(self, run_id, flow)
    }

    /// Delivers the answer to an event to a run that isn't in use. The run uses the answer when it
    /// is resumed and reaches a wait for the event. For a run in this process, use
    /// [`Run::deliver`](cogwork_flow::Run::deliver).
    ///
    /// The type of the answer isn't checked here. If the flow cannot read the answer, the run fails
    /// once, when it uses the answer. If it is resumed after that, it continues to wait.
    ///
    /// # Errors
    ///
    /// Returns an error if the run [doesn't exist](StoreError::is_missing), if it is [in
    /// use](StoreError::is_locked) or [has ended](StoreError::is_ended), if its flow doesn't wait
    /// for [this event](StoreError::is_unknown_event), if the answer cannot be [written as
    /// JSON](StoreError::is_value), or if the record is [damaged](StoreError::is_damaged) or cannot
    /// be read or written.
    pub fn deliver(
        &self,
        run_id: &str,
        event: &str,
        answer: &impl Serialize,
    ) -> impl Future<Output = Result<(), StoreError>> + Send {
        let answer = Json::of(answer).map_err(|error| {
            let event = Name(event);
            StoreError::new(
                Kind::Value,
                format_args!(
                    "the answer to `{event}` cannot be written as JSON: {}",
                    error.detail()
                ),
            )
        });

        let opener = self.opener(run_id);
        let event = event.to_owned();
        async move { opener.deliver(event, answer?).await }
    }

    /// Returns whether a run is in use, in this process or a different one. By the time this returns,
    /// that may have changed.
    ///
    /// # Errors
    ///
    /// Returns an error if the run [doesn't exist](StoreError::is_missing), or if this cannot be
    /// determined, for example because the disk is read-only.
    pub fn is_in_use(&self, run_id: &str) -> impl Future<Output = Result<bool, StoreError>> + Send {
        let opener = self.opener(run_id);
        async move {
            let in_use = opener.backend.is_in_use(&opener.run_id).await?;
            in_use.ok_or_else(|| opener.reader().missing())
        }
    }

    /// Returns all runs, sorted by id, without locking them.
    ///
    /// # Errors
    ///
    /// Returns an error if the store cannot be read. A store that doesn't exist has no runs.
    pub fn runs(&self) -> impl Future<Output = Result<Vec<RunSummary>, StoreError>> + Send {
        self.query(RunQuery::all_by_id())
    }

    /// Returns the runs that match a query. In a folder, each file is read completely.
    ///
    /// # Errors
    ///
    /// Returns an error if the store cannot be read. A store that doesn't exist has no runs.
    pub fn query(
        &self,
        query: RunQuery,
    ) -> impl Future<Output = Result<Vec<RunSummary>, StoreError>> + Send + use<> {
        let backend = Arc::clone(&self.0);
        async move { backend.list(query).await }
    }

    /// Returns some entries of the record of a run, with the times at which they were recorded. The
    /// run isn't locked and may be in use. The indexes of entries start at 0, and change when the
    /// record is folded.
    ///
    /// All entries in the range are in memory at once, and a file is read from its beginning, so
    /// read a long record in parts.
    ///
    /// ```
    /// # use cogwork_flow::{Flow, from_fn};
    /// # use cogwork_journal::Store;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let folder = tempfile::tempdir()?;
    /// # let store = Store::files(folder.path());
    /// # let flow = Flow::builder("add")
    /// #     .start("one")
    /// #     .node("one", from_fn(|n: &mut u32| *n += 1))
    /// #     .end("one", "default")
    /// #     .build()?;
    /// let journal = store.start("order-17", &flow, &41).await?;
    /// flow.begin().with_journal(journal).finish(&mut 41).await?;
    ///
    /// for recorded in store.entries("order-17", 0..100).await? {
    ///     println!("{:?}: {:?}", recorded.at, recorded.entry);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if the run [doesn't exist](StoreError::is_missing), or if these entries are
    /// [damaged](StoreError::is_damaged) or cannot be read.
    pub fn entries(
        &self,
        run_id: &str,
        range: Range<u64>,
    ) -> impl Future<Output = Result<Vec<RecordedEntry>, StoreError>> + Send {
        let opener = self.opener(run_id);
        async move { opener.entries(range).await }
    }

    /// Returns some [events](crate::RunEvents) of a run, from this position on: 0 for the first, and the
    /// [`next`](EventLine::next) of the last one that was read to go on. Returns none at the end. The run
    /// isn't locked and may be in use, so more can follow.
    ///
    /// # Errors
    ///
    /// Returns an error if the run [doesn't exist](StoreError::is_missing), or if the store cannot be
    /// read.
    pub fn events(
        &self,
        run_id: &str,
        from: u64,
    ) -> impl Future<Output = Result<Vec<EventLine>, StoreError>> + Send + use<> {
        let opener = self.opener(run_id);
        async move {
            let events = opener.backend.read_events(&opener.run_id, from).await?;
            events.ok_or_else(|| opener.reader().missing())
        }
    }

    /// Removes a run and its record. After that, a new run with the same id can be started.
    ///
    /// ```
    /// # use cogwork_flow::{Flow, from_fn};
    /// # use cogwork_journal::Store;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let folder = tempfile::tempdir()?;
    /// # let store = Store::files(folder.path());
    /// # let flow = Flow::builder("add")
    /// #     .start("one")
    /// #     .node("one", from_fn(|n: &mut u32| *n += 1))
    /// #     .end("one", "default")
    /// #     .build()?;
    /// drop(store.start("order-17", &flow, &41).await?);
    /// store.remove("order-17").await?;
    /// assert!(store.resume("order-17", &flow).await.unwrap_err().is_missing());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if the run [doesn't exist](StoreError::is_missing), if it is [in
    /// use](StoreError::is_locked), or if it cannot be removed. A [damaged](StoreError::is_damaged)
    /// run can be removed.
    pub fn remove(&self, run_id: &str) -> impl Future<Output = Result<(), StoreError>> + Send {
        let opener = self.opener(run_id);
        async move {
            if opener.backend.remove(&opener.run_id).await? {
                return Ok(());
            }
            Err(opener.reader().missing())
        }
    }

    pub(crate) fn opener(&self, run_id: &str) -> Opener {
        Opener {
            backend: Arc::clone(&self.0),
            run_id: run_id.to_owned(),
        }
    }
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(not(all(feature = "sqlite", feature = "postgres")))]
fn without(place: &str, what: &str) -> StoreError {
    let place = Name(place);
    let text = format_args!("{place}: this program was built without {what}");
    StoreError::new(Kind::Other, text)
}

/// Opens a run, which may not exist.
#[derive(Clone)]
pub(crate) struct Opener {
    backend: Arc<dyn Backend>,
    run_id: String,
}

impl Opener {
    /// Returns the location of the run, for messages.
    pub(crate) fn place(&self) -> String {
        self.backend.run_place(&self.run_id)
    }

    pub(crate) fn reader(&self) -> Reader<'_> {
        Reader {
            backend: &*self.backend,
            run_id: &self.run_id,
        }
    }

    /// Starts the run if it doesn't exist, or resumes it, whatever of the two is given.
    pub(crate) async fn open(
        self,
        new: Option<Record>,
        wanted: Option<Wanted>,
    ) -> Result<RunJournal, StoreError> {
        let place = self.place();
        let runtime = Handle::try_current().map_err(|_| StoreError::no_runtime(&place))?;

        // If the caller is dropped, whatever was taken is still given back.
        let opening = runtime.spawn(async move {
            loop {
                match self.try_to_open(new.clone(), wanted.clone()).await {
                    // Somebody else has started it in the meantime.
                    Err(error) if error.is_already_there() && wanted.is_some() => {}
                    opened => return opened,
                }
            }
        });
        let opened = opening.await;
        opened.unwrap_or_else(|error| Err(StoreError::caused(Kind::Other, place, error)))
    }

    async fn try_to_open(
        &self,
        new: Option<Record>,
        wanted: Option<Wanted>,
    ) -> Result<RunJournal, StoreError> {
        let expected = match (&new, &wanted) {
            (Some(_), None) => Expected::New,
            (None, _) => Expected::Existing,
            (Some(_), Some(_)) => Expected::Either,
        };
        let taken = self.backend.take(&self.run_id, expected).await?;
        let taken = taken.ok_or_else(|| self.reader().missing())?;

        match (new, wanted) {
            (Some(new), _) if taken.lines.is_empty() => self.start(taken, new).await,
            (_, Some(wanted)) if !taken.lines.is_empty() => self.resume(taken, wanted).await,
            _ => Err(self.reader().missing()),
        }
    }

    async fn start(&self, taken: Taken, mut new: Record) -> Result<RunJournal, StoreError> {
        if let Some(now) = taken.now {
            new.header.started = crate::header::to_millis(now);
        }

        let writer = Writer::start(taken.held, new.clone()).await?;
        self.journal(new, writer, taken.now)
    }

    /// Resumes a run that was taken.
    pub(crate) async fn resume(
        &self,
        mut taken: Taken,
        wanted: Wanted,
    ) -> Result<RunJournal, StoreError> {
        let read = self.read_taken(&taken, &wanted);
        let (mut record, offered) = match read {
            Ok(read) => read,
            Err(error) => {
                taken.held.refused(&error);
                return Err(error);
            }
        };

        let changed = wanted
            .flow
            .filter(|flow| flow.difference(&record.header.graph).is_some());
        let is_changed = changed.is_some();
        if let Some(flow) = changed {
            record.header.graph = flow;
        }
        let mut writer = Writer::resume(taken.held, &record);
        if is_changed {
            writer.replace(record.lines.clone()).await?;
        }
        if !offered.is_empty() {
            writer.append_offered(offered.clone()).await?;
            record.lines.extend(offered);
        }

        let journal = self.journal(record, writer, taken.now)?;
        Ok(if is_changed {
            journal.of_changed_flow()
        } else {
            journal
        })
    }

    /// Reads a run that was taken, and the answers that were left for it.
    fn read_taken(
        &self,
        taken: &Taken,
        wanted: &Wanted,
    ) -> Result<(Record, Vec<Line>), StoreError> {
        let reader = self.reader();
        let record = reader.record(&taken.lines)?;
        wanted.check(reader, &record.header)?;
        reader.check_order(&record.lines)?;

        // If there are too many, they stay where they are until some were used.
        let first = record.lines.len() as u64 + 2;
        let offered = reader.entries(&taken.offered, first)?;
        let all = [record.lines.as_slice(), offered.as_slice()].concat();
        let can_follow = offered.is_empty() || check_order(&all).is_ok();
        Ok((record, if can_follow { offered } else { Vec::new() }))
    }

    fn journal(
        &self,
        record: Record,
        writer: Writer,
        now: Option<std::time::SystemTime>,
    ) -> Result<RunJournal, StoreError> {
        let place = self.place();
        let journal = RunJournal::new(place, record, writer, now);
        journal.map_err(|error| self.reader().out_of_place(&error))
    }

    /// Reads the whole record without taking the run, and checks that it is the wanted one.
    pub(crate) async fn read(&self, wanted: &Wanted) -> Result<Record, StoreError> {
        let reader = self.reader();
        let lines = self.backend.read(&self.run_id, 1..u64::MAX).await?;
        let record = reader.record(&lines.ok_or_else(|| reader.missing())?)?;
        wanted.check(reader, &record.header)?;
        Ok(record)
    }

    async fn entries(&self, range: Range<u64>) -> Result<Vec<RecordedEntry>, StoreError> {
        // The first line is the header, and lines are counted from 1.
        let first = range.start.saturating_add(2);
        let numbers = first..range.end.saturating_add(2);
        let lines = self.backend.read(&self.run_id, numbers).await?;
        let lines = lines.ok_or_else(|| self.reader().missing())?;

        let entries = self.reader().entries(&lines, first)?;
        let recorded = entries.into_iter().zip(range.start..);
        let recorded = recorded.map(|(line, index)| RecordedEntry::new(index, line));
        Ok(recorded.collect())
    }

    async fn deliver(self, event: String, answer: Json) -> Result<(), StoreError> {
        if self.offer(&event, &answer).await? {
            return Ok(());
        }

        let any = Wanted {
            flow: None,
            may_have_changed: true,
            input: None,
        };
        let journal = match self.clone().open(None, Some(any)).await {
            // Somebody has taken the run in the meantime.
            Err(error) if error.is_locked() => {
                let offered = self.offer(&event, &answer).await?;
                let problem = format_args!("the run cannot be answered now: {error}");
                return match offered {
                    true => Ok(()),
                    false => Err(StoreError::new(Kind::Locked, problem)),
                };
            }
            opened => opened?,
        };

        journal.check_answerable(&event)?;
        let delivered = journal.deliver(&event, answer).await;
        let place = self.place();
        delivered.map_err(|error| StoreError::of_journal(&place, error))
    }

    /// Leaves an answer for whoever uses the run. Returns whether that is possible.
    async fn offer(&self, event: &str, answer: &Json) -> Result<bool, StoreError> {
        let entry = Entry::Answer {
            event: event.to_owned(),
            answer: answer.clone(),
        };
        let line = serde_json::to_string(&entry).unwrap_or_default();
        self.backend.offer(&self.run_id, event, &line).await
    }
}
