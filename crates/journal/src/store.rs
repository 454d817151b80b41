use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cogwork_flow::Flow;
use cogwork_text::Name;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::backend::Backend;
use crate::delivery::{Delivery, To};
use crate::file::Files;
use crate::header::{Header, check_run_id};
use crate::opener::Opener;
use crate::read::Wanted;
use crate::{
    EventLine, Fork, ForkPreview, RecordedEntry, RunJournal, RunQuery, RunSummary, StoreError,
    StoreErrorKind,
};

/// A store of runs: a folder of [files](Store::files), a [SQLite](Store::sqlite) database, or a
/// PostgreSQL database.
///
/// All stores do the same. Each run has a record of lines, of which the first has its id and its
/// input, and each further one is an [`Entry`](cogwork_flow::engine::Entry). To store runs
/// elsewhere, implement [`Log`](cogwork_flow::engine::Log).
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
pub struct Store(pub(crate) Arc<dyn Backend>);

impl Store {
    /// Returns the store in a folder, with a file for each run. The folder is created when the first
    /// run starts.
    ///
    /// The file is named after the run id, with unsafe characters escaped, and ends with `.jsonl`.
    /// Its first line contains the run id and the input; each further line is a time in milliseconds
    /// since 1970 and an [`Entry`](cogwork_flow::engine::Entry). Every line begins with the CRC-32 of
    /// the rest of it, and then has a space, or a `+` if it was written together with the previous
    /// line. Lines are only appended;
    /// [folding](cogwork_flow::Run::with_fold_every) replaces the file. Next to it, there is a `.lock`
    /// file with the id of the last process that ran the run and, while the file is being created or
    /// replaced, a `.new` file. The folder must not contain other files with these endings. Anything
    /// other than a regular file under one of these names, such as a link, is an error.
    ///
    /// Everything that is queued is written at once and followed by `fdatasync`. When a run is
    /// resumed, lines that a crash or a power cut left incomplete are ignored, and removed by the next
    /// write. If anything else was modified, the error names the file and the line, and the file is
    /// left unchanged. A file that isn't the record of a run is listed as
    /// [damaged](crate::RunStatus::Damaged), with the run id from the name of the file if it contains none.
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
    /// flow, start and status; `waits` has one row for each waiting step, with the number of its line
    /// and whether its event has an unused answer. Other programs may read all three tables, and so may
    /// SQLite's own tools:
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

        // A folder of this name would be made where a database was meant.
        if let Some((scheme, _)) = place.split_once("://") {
            let scheme = Name(scheme);
            let text = format_args!(
                "`{scheme}://` isn't a place of journals; expected `postgres://`, a folder, or a SQLite file"
            );
            return Err(StoreError::new(StoreErrorKind::Other, text));
        }
        if place.is_empty() {
            let text = "the place of the journals is empty; expected a folder, a SQLite file, or `postgres://`";
            return Err(StoreError::new(StoreErrorKind::Other, text));
        }

        let path = Path::new(place);
        let ending = path.extension().and_then(|ending| ending.to_str());
        let is_named_so = matches!(ending, Some("db" | "sqlite" | "sqlite3"));
        // What exists decides, and the name only if there is nothing yet.
        if path.is_file() || (is_named_so && !path.is_dir()) {
            #[cfg(feature = "sqlite")]
            return Ok(Self::sqlite(path));
            #[cfg(not(feature = "sqlite"))]
            return Err(without(place, "SQLite"));
        }

        Ok(Self::files(path))
    }

    /// Starts a run and records its input.
    ///
    /// # Errors
    ///
    /// Returns an error if a run with this id [already exists](StoreErrorKind::AlreadyThere), if
    /// the input cannot be [written as JSON](StoreErrorKind::Value), or if the store cannot be
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
    /// Returns an error if the run [doesn't exist](StoreErrorKind::Missing), if it is [in
    /// use](StoreErrorKind::InUse), if it belongs to a [different
    /// flow](StoreErrorKind::AnotherFlow) or to an earlier version of this one, or if its record is
    /// [damaged](StoreErrorKind::Damaged) or cannot be read.
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
    /// input](StoreErrorKind::AnotherInput), and otherwise the same errors as
    /// [`start`](Store::start) and [`resume`](Store::resume).
    pub fn start_or_resume<S>(
        &self,
        run_id: &str,
        flow: &Flow<S>,
        input: &impl Serialize,
    ) -> impl Future<Output = Result<RunJournal, StoreError>> + Send {
        let opener = self.opener(run_id);
        let header = Header::new(run_id, flow.graph(), input);
        async move {
            let header = header?;
            let wanted = Wanted {
                input: Some(header.input.clone()),
                ..Wanted::flow(header.graph.clone())
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
    /// Returns an error if the run [doesn't exist](StoreErrorKind::Missing), if it belongs to a
    /// [different flow](StoreErrorKind::AnotherFlow) or, unless the fork [allows
    /// it](Fork::with_changed_flow), to an earlier version of this one, if it cannot be forked [at
    /// this step](StoreErrorKind::UnknownStep), if a run with the id of the fork [already
    /// exists](StoreErrorKind::AlreadyThere) or is [in use](StoreErrorKind::InUse), if a state or an
    /// outcome cannot be [written or read as JSON](StoreErrorKind::Value), if the record is
    /// [damaged](StoreErrorKind::Damaged), or if the store cannot be read or written.
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
    /// If the run waits for the event now, and the wait has a
    /// [schema](cogwork_flow::Wait::with_schema), the answer must match it. The type of the answer isn't
    /// checked here. If the flow cannot read the answer, the run fails once, when it uses the answer. If
    /// it is resumed after that, it continues to wait.
    ///
    /// # Errors
    ///
    /// Returns an error if the run [doesn't exist](StoreErrorKind::Missing), if it is [in
    /// use](StoreErrorKind::InUse) or [has ended](StoreErrorKind::Ended), if its flow doesn't wait
    /// for [this event](StoreErrorKind::UnknownEvent), if the answer doesn't match the
    /// [schema](StoreErrorKind::RefusedAnswer) of its wait or comes after its time limit, if it cannot
    /// be [written as JSON](StoreErrorKind::Value), or if the record is [damaged](StoreErrorKind::Damaged) or cannot
    /// be read or written.
    pub fn deliver(
        &self,
        run_id: &str,
        event: &str,
        answer: &impl Serialize,
    ) -> impl Future<Output = Result<(), StoreError>> + Send {
        let opener = self.opener(run_id);
        let delivery = Delivery::of(event, answer, To::Anyone);
        async move { opener.deliver(delivery?).await }
    }

    /// Answers a step that waits for an event now: this one, if one is given. Unlike
    /// [`deliver`](Self::deliver), this refuses the answer if the wait has one, so that a person who
    /// answers twice, to whichever processes, doesn't answer the next question.
    ///
    /// # Errors
    ///
    /// Returns an error if the run [doesn't wait](StoreErrorKind::NotWaiting) for the event, or not in this
    /// step, or has failed and must be resumed first, if other steps [would take](StoreErrorKind::RefusedAnswer) the answer to this one, and
    /// otherwise the same errors as [`deliver`](Self::deliver).
    pub fn answer(
        &self,
        run_id: &str,
        event: &str,
        step: Option<&str>,
        answer: &impl Serialize,
    ) -> impl Future<Output = Result<(), StoreError>> + Send {
        let opener = self.opener(run_id);
        let to = To::Waiting(step.map(str::to_owned));
        let delivery = Delivery::of(event, answer, to);
        async move { opener.deliver(delivery?).await }
    }

    /// Cancels a run, which then has failed with this error. It can be resumed. The flow of the run isn't
    /// needed.
    ///
    /// In PostgreSQL, the run may be in use: whoever executes it makes no further call, and a
    /// [worker](crate::Worker) stops it when it renews its lease, which is after 10 s by default. Workers
    /// leave it alone until it is [put back](crate::PostgresStore::put_back).
    ///
    /// # Errors
    ///
    /// Returns an error if the run [doesn't exist](StoreErrorKind::Missing), [has
    /// ended](StoreErrorKind::Ended) or is [in use](StoreErrorKind::InUse), if the record is
    /// [damaged](StoreErrorKind::Damaged), or if it cannot be read or written.
    pub fn cancel(
        &self,
        run_id: &str,
        error: &str,
    ) -> impl Future<Output = Result<(), StoreError>> + Send {
        let opener = self.opener(run_id);
        let error = error.to_owned();
        async move {
            opener.backend.take_away(&opener.run_id).await?;
            let journal = opener.open(None, Some(Wanted::any()));
            journal.await?.cancel(error).await
        }
    }

    /// Returns whether a run was started with this input and by a flow with this name, however it has
    /// changed since. The run isn't locked and may be in use.
    ///
    /// # Errors
    ///
    /// Returns an error if the run [doesn't exist](StoreErrorKind::Missing), if the input cannot be
    /// [written as JSON](StoreErrorKind::Value), or if the record is [damaged](StoreErrorKind::Damaged)
    /// or cannot be read.
    pub fn is_started_with<S>(
        &self,
        run_id: &str,
        flow: &Flow<S>,
        input: &impl Serialize,
    ) -> impl Future<Output = Result<bool, StoreError>> + Send {
        let opener = self.opener(run_id);
        let header = Header::new(run_id, flow.graph(), input);
        async move {
            let header = header?;
            let wanted = Wanted {
                flow: Some(header.graph),
                may_have_changed: true,
                input: Some(header.input),
            };
            let read = opener.read(&wanted).await;
            match read.map_err(|error| (error.kind(), error)) {
                Ok(_) => Ok(true),
                Err((StoreErrorKind::AnotherFlow | StoreErrorKind::AnotherInput, _)) => Ok(false),
                Err((_, error)) => Err(error),
            }
        }
    }

    /// Returns whether a run is in use, in this process or a different one. By the time this returns,
    /// that may have changed.
    ///
    /// # Errors
    ///
    /// Returns an error if the run [doesn't exist](StoreErrorKind::Missing), or if this cannot be
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
        async move {
            // No run has such an id, and not every database can look for it.
            if query.only_run().is_some_and(|id| check_run_id(id).is_err()) {
                return Ok(Vec::new());
            }
            backend.list(query).await
        }
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
    /// Returns an error if the run [doesn't exist](StoreErrorKind::Missing), or if these entries are
    /// [damaged](StoreErrorKind::Damaged) or cannot be read.
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
    /// Returns an error if the run [doesn't exist](StoreErrorKind::Missing), or if the store cannot be
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
    /// # use cogwork_journal::{Store, StoreErrorKind};
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
    /// assert_eq!(store.resume("order-17", &flow).await.unwrap_err().kind(), StoreErrorKind::Missing);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if the run [doesn't exist](StoreErrorKind::Missing), if it is [in
    /// use](StoreErrorKind::InUse), or if it cannot be removed. A [damaged](StoreErrorKind::Damaged)
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
    StoreError::new(StoreErrorKind::Other, text)
}
