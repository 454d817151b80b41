//! A thread that owns the connection, and writes what waits in one transaction.

use std::fmt;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use rusqlite::Connection;
use tokio::sync::oneshot;

use super::{StoreError, tables};

/// The maximum number of jobs in one transaction.
const MAX_JOBS: usize = 256;

/// The maximum number of jobs that wait. The number of concurrent requests is lower.
const QUEUE: usize = 4_096;

/// Tells the caller of a job whether its transaction was committed.
type Acknowledge = Box<dyn FnOnce(Result<(), StoreError>) + Send>;

/// Work within a transaction, or the error for which there is no transaction.
type Job = Box<dyn FnOnce(Result<&Connection, StoreError>) -> Acknowledge + Send>;

/// A database on its own thread. The thread ends when the last clone is dropped.
#[derive(Clone)]
pub(super) struct Database {
    jobs: SyncSender<Job>,
}

impl Database {
    /// Opens the database at this path, or one in memory. May block.
    pub(super) fn open(path: Option<PathBuf>) -> Result<Self, StoreError> {
        let connection = tables::open(path.as_deref())?;
        let (jobs, queue) = sync_channel(QUEUE);

        let builder = thread::Builder::new().name("cogwork-sessions".to_owned());
        builder
            .spawn(move || work(&connection, &queue))
            .map_err(|error| {
                StoreError::new(format_args!("no thread for the database: {error}"))
            })?;

        Ok(Self { jobs })
    }

    /// Does work within a transaction, and returns its result once the transaction is committed.
    ///
    /// The work is done even if the future is dropped.
    pub(super) async fn transaction<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (sender, receiver) = oneshot::channel();
        let job: Job = Box::new(move |connection| {
            let result = connection.and_then(|connection| undone_if_failed(connection, work));
            Box::new(move |committed| {
                // The caller may have gone.
                let _ = sender.send(committed.and(result));
            })
        });

        let gone = || StoreError::new("the thread of the database has ended");
        self.jobs.try_send(job).map_err(|_| gone())?;
        receiver.await.map_err(|_| gone())?
    }
}

impl fmt::Debug for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Database")
    }
}

/// Does jobs until there are no more senders.
fn work(connection: &Connection, queue: &Receiver<Job>) {
    while let Ok(first) = queue.recv() {
        let waiting = queue.try_iter().take(MAX_JOBS - 1);
        together(connection, std::iter::once(first).chain(waiting));
    }
}

/// Does jobs in one transaction.
fn together(connection: &Connection, jobs: impl Iterator<Item = Job>) {
    let begun = execute(connection, "BEGIN IMMEDIATE");
    let jobs = jobs.map(|job| job(begun.clone().map(|()| connection)));
    let acknowledges: Vec<_> = jobs.collect();

    let committed = begun.clone().and_then(|()| commit(connection));
    for acknowledge in acknowledges {
        acknowledge(committed.clone());
    }
}

/// Does work whose changes are undone if it fails, while those of others remain.
fn undone_if_failed<T>(
    connection: &Connection,
    work: impl FnOnce(&Connection) -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    execute(connection, "SAVEPOINT job")?;
    let result = work(connection);

    if result.is_err() {
        execute(connection, "ROLLBACK TO job")?;
    }
    execute(connection, "RELEASE job")?;
    result
}

fn commit(connection: &Connection) -> Result<(), StoreError> {
    let committed = execute(connection, "COMMIT");
    if committed.is_err() {
        execute(connection, "ROLLBACK")?;
    }
    committed
}

fn execute(connection: &Connection, sql: &str) -> Result<(), StoreError> {
    connection.prepare_cached(sql)?.execute([])?;
    Ok(())
}
