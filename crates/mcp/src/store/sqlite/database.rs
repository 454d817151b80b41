//! A database that does what waits in one transaction.

use std::cell::Cell;
use std::fmt;
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use rusqlite::Connection;
use tokio::runtime::Handle;
use tokio::sync::oneshot;

use super::chain::Appended;
use super::outcome::{Done, Outcome};
use super::place::Place;
use super::queue::{Added, Job, Queue, Run, Work};
use super::tables;
use crate::ServerLimits;
use crate::store::StoreError;
use crate::store::position::{Addition, Position};

/// The maximum number of transactions without the thread between two checkpoints. They usually write
/// fewer pages than the thousand after which SQLite makes a checkpoint within a transaction.
const COMMITS: usize = 100;

/// A database on its own thread. The thread ends when the last clone is dropped.
///
/// What a task queues before it waits is done in one transaction.
#[derive(Clone)]
pub(crate) struct Database {
    shared: Arc<Shared>,
    /// Wakes the thread.
    thread: SyncSender<()>,
}

impl Database {
    /// Opens the database in this folder. May block.
    pub(crate) fn open(folder: &Path, limits: &ServerLimits) -> Result<Self, StoreError> {
        let place = Place::in_folder(folder)?;
        let connection = tables::open(&place, limits)?;
        let shared = Arc::new(Shared {
            queue: Queue::default(),
            opened: Mutex::new(Opened {
                connection,
                place,
                lock_timeout: limits.lock_timeout,
                commits: Cell::new(0),
            }),
        });
        let (thread, wakes) = sync_channel(1);

        let on_thread = Arc::clone(&shared);
        let builder = thread::Builder::new().name("cogwork-sessions".to_owned());
        builder
            .spawn(move || on_thread.work(&wakes))
            .map_err(|error| {
                StoreError::new(format_args!("no thread for the database: {error}"))
            })?;

        Ok(Self { shared, thread })
    }

    /// Does work within a transaction, and returns its result once the transaction is committed.
    ///
    /// The work is queued at once, and done even if the future is dropped. Work is done in the order
    /// in which it was queued.
    pub(crate) fn write<T: Send + 'static, W>(
        &self,
        work: W,
    ) -> impl Future<Output = Result<T, StoreError>> + Send + use<T, W>
    where
        W: FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    {
        let work = |connection: &Connection| undone_if_failed(connection, work);
        self.transaction(Work::Write, work)
    }

    /// Appends an entry, and returns the new position once it is stored. Returns `None` if the
    /// session is not at the position. Queued like the work of [`write`](Self::write).
    pub(crate) fn append(
        &self,
        position: Position,
        addition: Addition,
    ) -> impl Future<Output = Appended> + Send + use<> {
        let (sender, receiver) = oneshot::channel();
        let additions = vec![addition];
        let added = self.shared.queue.add_entries(position, additions, sender);
        self.result(added, receiver)
    }

    /// Reads a consistent state, without waiting for processes that are writing. Includes what was
    /// queued earlier.
    pub(crate) fn read<T: Send + 'static, W>(
        &self,
        work: W,
    ) -> impl Future<Output = Result<T, StoreError>> + Send + use<T, W>
    where
        W: FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    {
        self.transaction(Work::Read, work)
    }

    fn transaction<T: Send + 'static, W>(
        &self,
        kind: fn(Box<Run>) -> Work,
        work: W,
    ) -> impl Future<Output = Result<T, StoreError>> + Send + use<T, W>
    where
        W: FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    {
        let (sender, receiver) = oneshot::channel();
        let run = Box::new(move |connection: Result<&Connection, StoreError>| {
            let result = connection.and_then(work);
            let error = result.as_ref().err().cloned();
            let acknowledge = Box::new(move |committed: Result<(), StoreError>| {
                // The caller may have gone.
                let _ = sender.send(result.and_then(|value| committed.map(|()| value)));
            });
            Outcome { error, acknowledge }
        });

        let added = self.shared.queue.add(kind(run));
        self.result(added, receiver)
    }

    fn result<T: Send + 'static>(
        &self,
        added: Result<Added, StoreError>,
        receiver: oneshot::Receiver<Result<T, StoreError>>,
    ) -> impl Future<Output = Result<T, StoreError>> + Send + use<T> {
        if matches!(added, Ok(Added::Start)) {
            self.start_soon();
        }
        async move {
            added?;
            receiver.await.map_err(|_| ended())?
        }
    }

    /// Starts what waits as soon as the current task waits.
    fn start_soon(&self) {
        let start = Start(self.clone());
        match Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn(async { drop(start) })),
            Err(_) => drop(start),
        }
    }

    fn start(&self) {
        self.shared.queue.start();
        if self.shared.append_here() {
            return;
        }

        if let Err(TrySendError::Disconnected(())) = self.thread.try_send(()) {
            self.shared.queue.clear();
        }
    }
}

impl fmt::Debug for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Database")
    }
}

/// Starts what waits when it is dropped: also if the runtime is shut down before it runs the task.
struct Start(Database);

impl Drop for Start {
    fn drop(&mut self) {
        self.0.start();
    }
}

fn ended() -> StoreError {
    StoreError::new("the thread of the database has ended; restart the server")
}

/// What the thread shares with those that queue jobs.
struct Shared {
    queue: Queue,
    opened: Mutex<Opened>,
}

impl Shared {
    /// Does jobs in order, until there are no more senders.
    fn work(&self, wakes: &Receiver<()>) {
        loop {
            let woken = wakes.recv();
            self.work_off();
            if woken.is_err() {
                return;
            }
        }
    }

    fn work_off(&self) {
        let opened = self.lock();
        loop {
            let jobs = self.queue.next(|_| true);
            if jobs.is_empty() {
                break;
            }
            opened.together(jobs).acknowledge_there();
        }
        opened.checkpoint();
    }

    /// Does what was appended, unless it has to wait for anything. Returns whether there is nothing
    /// else to do.
    ///
    /// Waking the thread, and being woken by it, takes longer than a transaction, which usually ends
    /// with writing a few pages to the cache of the operating system.
    fn append_here(&self) -> bool {
        let Ok(opened) = self.opened.try_lock() else {
            return false;
        };

        let jobs = self.queue.next(|work| matches!(work, Work::Append(_)));
        if jobs.is_empty() {
            return self.queue.is_empty();
        }
        match opened.together_at_once(jobs) {
            Ok(done) => drop(done),
            Err(jobs) => self.queue.put_back(jobs),
        }
        self.queue.is_empty()
    }

    fn lock(&self) -> MutexGuard<'_, Opened> {
        self.opened.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The connection.
struct Opened {
    connection: Connection,
    place: Place,
    lock_timeout: Duration,
    /// The number of transactions since the last checkpoint that were done without the thread.
    commits: Cell<usize>,
}

impl Opened {
    /// Does jobs in one transaction.
    fn together(&self, jobs: Vec<Job>) -> Done {
        let writes = jobs.iter().any(|job| job.work.writes());
        let problem = self.begin(writes).err();
        self.within_transaction(jobs, writes, problem)
    }

    /// Does jobs that change something in one transaction. Returns them if they must wait for other
    /// processes or for the disk.
    fn together_at_once(&self, jobs: Vec<Job>) -> Result<Done, Vec<Job>> {
        if self.commits.get() >= COMMITS || self.begin_at_once().is_err() {
            return Err(jobs);
        }
        self.commits.set(self.commits.get().saturating_add(1));
        Ok(self.within_transaction(jobs, true, None))
    }

    fn within_transaction(
        &self,
        jobs: Vec<Job>,
        writes: bool,
        mut problem: Option<StoreError>,
    ) -> Done {
        let mut acknowledges = Vec::with_capacity(jobs.len());
        let runtime = runtime_of(&jobs);

        for job in jobs {
            let connection = problem.clone().map_or(Ok(&self.connection), Err);
            let must_succeed = matches!(job.work, Work::Append(_));
            let outcome = job.work.run(connection);
            acknowledges.push(outcome.acknowledge);

            if problem.is_none() {
                problem = self.undone(must_succeed, outcome.error).err();
            }
        }

        let committed = problem.map_or_else(|| self.commit(writes), Err);
        Done {
            committed,
            acknowledges,
            runtime,
        }
    }

    /// Returns an error if a job has undone what all jobs did so far, or if that must be undone.
    fn undone(&self, must_succeed: bool, error: Option<StoreError>) -> Result<(), StoreError> {
        // Some errors, such as a full disk, undo the transaction. Without one, each statement of the
        // next jobs would be committed at once.
        if self.connection.is_autocommit() {
            let undone = || StoreError::new("a change of the database was undone");
            return Err(error.unwrap_or_else(undone));
        }

        match error {
            // An entry may have been appended in part.
            Some(error) if must_succeed => {
                execute(&self.connection, "ROLLBACK")?;
                Err(error)
            }
            _ => Ok(()),
        }
    }

    fn begin(&self, writes: bool) -> Result<(), StoreError> {
        let sql = if writes { "BEGIN IMMEDIATE" } else { "BEGIN" };
        execute(&self.connection, sql)
    }

    /// Begins a transaction, unless another process is writing.
    fn begin_at_once(&self) -> Result<(), StoreError> {
        self.connection.busy_timeout(Duration::ZERO)?;
        let begun = self.begin(true);
        self.connection.busy_timeout(self.lock_timeout)?;
        begun
    }

    /// Copies what was written to the database if it is due, which waits for the disk.
    fn checkpoint(&self) {
        if self.commits.get() < COMMITS {
            return;
        }
        self.commits.set(0);

        let sql = "PRAGMA wal_checkpoint(PASSIVE)";
        let done = self.connection.query_row(sql, [], |_| Ok(()));
        if let Err(error) = done {
            // SQLite tries again by itself when there is more to copy.
            tracing::debug!(%error, "no checkpoint of the database");
        }
    }

    fn commit(&self, writes: bool) -> Result<(), StoreError> {
        let committed = self
            .check_place(writes)
            .and_then(|()| execute(&self.connection, "COMMIT"));

        if committed.is_err() && !self.connection.is_autocommit() {
            execute(&self.connection, "ROLLBACK")?;
        }
        committed
    }

    /// Checks that what is written is found again after a restart.
    fn check_place(&self, writes: bool) -> Result<(), StoreError> {
        if writes {
            return self.place.check();
        }
        Ok(())
    }
}

/// Returns the runtime in which all callers wait.
fn runtime_of(jobs: &[Job]) -> Option<Handle> {
    let runtime = jobs.first()?.runtime.clone()?;
    let id = Some(runtime.id());
    jobs.iter().all(|job| job.is_from(id)).then_some(runtime)
}

/// Does work whose changes are undone if it fails, while those of others remain.
fn undone_if_failed<T>(
    connection: &Connection,
    work: impl FnOnce(&Connection) -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    execute(connection, "SAVEPOINT job")?;
    let result = work(connection);

    if connection.is_autocommit() {
        // The error has undone the whole transaction.
        return result;
    }
    if result.is_err() {
        execute(connection, "ROLLBACK TO job")?;
    }
    execute(connection, "RELEASE job")?;
    result
}

fn execute(connection: &Connection, sql: &str) -> Result<(), StoreError> {
    connection.prepare_cached(sql)?.execute([])?;
    Ok(())
}
