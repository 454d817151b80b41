//! A thread that owns the connection, and does what waits in one transaction.

use std::fmt;
use std::iter;
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread;

use rusqlite::Connection;
use tokio::sync::oneshot;

use super::place::Place;
use super::{StoreError, tables};
use crate::ServerLimits;

/// The maximum number of jobs in one transaction.
const MAX_JOBS: usize = 256;

/// The maximum number of jobs that wait. The number of concurrent requests is lower.
const QUEUE: usize = 4_096;

/// Whether the transaction of a job changes anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Access {
    /// Doesn't wait for other processes.
    Read,
    Write,
}

struct Job {
    access: Access,
    run: Box<Run>,
}

/// Does work within a transaction, or receives the error for which there is no transaction.
type Run = dyn FnOnce(Result<&Connection, StoreError>) -> Outcome + Send;

/// A job that was done within a transaction that isn't committed yet.
struct Outcome {
    error: Option<StoreError>,
    /// Reports to the caller whether the transaction was committed.
    acknowledge: Box<dyn FnOnce(Result<(), StoreError>) + Send>,
}

/// A database on its own thread. The thread ends when the last clone is dropped.
#[derive(Clone)]
pub(super) struct Database {
    jobs: SyncSender<Job>,
}

impl Database {
    /// Opens the database in this folder, or one in memory. May block.
    pub(super) fn open(folder: Option<&Path>, limits: &ServerLimits) -> Result<Self, StoreError> {
        let place = folder.map(Place::in_folder).transpose()?;
        let connection = tables::open(place.as_ref(), limits)?;
        let opened = Opened { connection, place };
        let (jobs, queue) = sync_channel(QUEUE);

        let builder = thread::Builder::new().name("cogwork-sessions".to_owned());
        builder
            .spawn(move || opened.work(&queue))
            .map_err(|error| {
                StoreError::new(format_args!("no thread for the database: {error}"))
            })?;

        Ok(Self { jobs })
    }

    /// Does work within a transaction, and returns its result once the transaction is committed.
    ///
    /// The work is queued at once, and done even if the future is dropped. Work is done in the order
    /// in which it was queued.
    pub(super) fn write<T: Send + 'static, W>(
        &self,
        work: W,
    ) -> impl Future<Output = Result<T, StoreError>> + Send + use<T, W>
    where
        W: FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    {
        let work = |connection: &Connection| undone_if_failed(connection, work);
        self.transaction(Access::Write, work)
    }

    /// Reads a consistent state, without waiting for processes that are writing. Includes what was
    /// queued earlier.
    pub(super) fn read<T: Send + 'static, W>(
        &self,
        work: W,
    ) -> impl Future<Output = Result<T, StoreError>> + Send + use<T, W>
    where
        W: FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    {
        self.transaction(Access::Read, work)
    }

    fn transaction<T: Send + 'static, W>(
        &self,
        access: Access,
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

        let sent = self.jobs.try_send(Job { access, run }).map_err(not_sent);
        async move {
            sent?;
            receiver.await.map_err(|_| ended())?
        }
    }
}

impl fmt::Debug for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Database")
    }
}

fn not_sent(error: TrySendError<Job>) -> StoreError {
    match error {
        TrySendError::Full(_) => StoreError::new(format_args!(
            "{QUEUE} requests are waiting for the database of sessions; try again later"
        )),
        TrySendError::Disconnected(_) => ended(),
    }
}

fn ended() -> StoreError {
    StoreError::new("the thread of the database has ended; restart the server")
}

/// The connection, on the thread that owns it.
struct Opened {
    connection: Connection,
    place: Option<Place>,
}

impl Opened {
    /// Does jobs in order, until there are no more senders.
    fn work(&self, queue: &Receiver<Job>) {
        while let Ok(first) = queue.recv() {
            let waiting = queue.try_iter().take(MAX_JOBS - 1);
            let mut jobs = iter::once(first).chain(waiting).peekable();

            while let Some(first) = jobs.next() {
                let access = first.access;
                let same = iter::from_fn(|| jobs.next_if(|job| job.access == access));
                self.together(access, iter::once(first).chain(same));
            }
        }
    }

    /// Does jobs in one transaction.
    fn together(&self, access: Access, jobs: impl Iterator<Item = Job>) {
        let mut problem = self.begin(access).err();
        let mut acknowledges = Vec::new();

        for job in jobs {
            let connection = problem.clone().map_or(Ok(&self.connection), Err);
            let outcome = (job.run)(connection);
            acknowledges.push(outcome.acknowledge);

            // Some errors, such as a full disk, undo what all jobs did so far. Without a
            // transaction, each statement of the next jobs would be committed at once.
            if problem.is_none() && self.connection.is_autocommit() {
                let undone = || StoreError::new("a change of the database was undone");
                problem = Some(outcome.error.unwrap_or_else(undone));
            }
        }

        let committed = problem.map_or_else(|| self.commit(access), Err);
        for acknowledge in acknowledges {
            acknowledge(committed.clone());
        }
    }

    fn begin(&self, access: Access) -> Result<(), StoreError> {
        let sql = match access {
            Access::Read => "BEGIN",
            Access::Write => "BEGIN IMMEDIATE",
        };
        execute(&self.connection, sql)
    }

    fn commit(&self, access: Access) -> Result<(), StoreError> {
        let committed = self
            .check_place(access)
            .and_then(|()| execute(&self.connection, "COMMIT"));

        if committed.is_err() && !self.connection.is_autocommit() {
            execute(&self.connection, "ROLLBACK")?;
        }
        committed
    }

    /// Checks that what is written is found again after a restart.
    fn check_place(&self, access: Access) -> Result<(), StoreError> {
        match &self.place {
            Some(place) if access == Access::Write => place.check(),
            _ => Ok(()),
        }
    }
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
