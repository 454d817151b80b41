//! What a store needs of the place where its runs are: files, SQLite or PostgreSQL.

use std::fmt;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use async_trait::async_trait;
use cogwork_text::Name;
use serde::Serialize;
use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::time::Instant;

use crate::delivery::Delivery;
use crate::header::Header;
use crate::query::RunQuery;
use crate::summary::WaitChanges;
use crate::{EventLine, RunSummary, StoreError, StoreErrorKind};

/// A place for the lines of runs. It knows what lines are, and nothing of flows.
#[async_trait]
pub(crate) trait Backend: fmt::Debug + Send + Sync + 'static {
    /// Returns the location of the runs, for messages.
    fn place(&self) -> String;

    /// Returns the location of a run, for messages.
    fn run_place(&self, _run_id: &str) -> String {
        self.place()
    }

    /// Returns the location of a line of a run, for messages. Lines are counted from 1.
    fn line_place(&self, run_id: &str, number: u64) -> String {
        format!("{}, run `{}`, line {number}", self.place(), Name(run_id))
    }

    /// Takes a run, so that nobody else can write it. Waits a little while somebody else does.
    /// Returns `None` if the run doesn't exist and must, and an error if it exists and must not.
    async fn take(&self, run_id: &str, expected: Expected) -> Result<Option<Taken>, StoreError>;

    /// Reads lines of a run without taking it. Returns `None` if it doesn't exist.
    async fn read(
        &self,
        run_id: &str,
        numbers: Range<u64>,
    ) -> Result<Option<Vec<TextLine>>, StoreError>;

    /// Reads some events of a run, from this position on; none at their end. Returns `None` if the run
    /// doesn't exist.
    async fn read_events(
        &self,
        run_id: &str,
        from: u64,
    ) -> Result<Option<Vec<EventLine>>, StoreError>;

    /// Returns the runs that match a query, in its order.
    async fn list(&self, query: RunQuery) -> Result<Vec<RunSummary>, StoreError>;

    /// Removes a run that nobody uses. Returns whether it existed.
    async fn remove(&self, run_id: &str) -> Result<bool, StoreError>;

    /// Returns whether somebody has taken a run, or `None` if it doesn't exist.
    async fn is_in_use(&self, run_id: &str) -> Result<Option<bool>, StoreError>;

    /// Takes a run away from whoever has taken it, if that is possible, and from workers until it is put
    /// back.
    async fn take_away(&self, _run_id: &str) -> Result<(), StoreError> {
        Ok(())
    }

    /// Leaves an answer for whoever has taken a run. Returns `false` if nobody has, or if the answer
    /// cannot be left. Returns an error if the run doesn't wait for this event, or not for this answer.
    async fn offer(&self, _run_id: &str, _delivery: &Delivery) -> Result<bool, StoreError> {
        Ok(false)
    }
}

/// Whether a run to take has to exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Expected {
    New,
    Existing,
    Either,
}

/// A run that was taken. Others can take it once this is dropped.
#[async_trait]
pub(crate) trait Held: Send + 'static {
    /// Writes a change durably, all of it or nothing. Isn't called again after an error.
    async fn write(&mut self, edit: Edit) -> Result<(), StoreError>;

    /// Adds events, which need not be durable.
    async fn write_events(&mut self, events: Vec<String>) -> Result<(), StoreError>;

    /// Returns until when nobody else can take the run, unless that is for as long as this exists. It is
    /// moved on again and again, is an error while that isn't possible, and is closed once somebody else
    /// has the run.
    fn until(&self) -> Option<watch::Receiver<Result<Instant, StoreError>>> {
        None
    }

    /// Notes why the run cannot be opened.
    fn refused(&mut self, _error: &StoreError) {}
}

/// A run that was taken, with its lines.
pub(crate) struct Taken {
    pub(crate) held: Box<dyn Held>,
    /// All lines. Empty if the run doesn't exist yet.
    pub(crate) lines: Vec<TextLine>,
    /// Answers that were left, and aren't among the lines yet.
    pub(crate) offered: Vec<TextLine>,
    /// The time, if the clock isn't that of this machine.
    pub(crate) now: Option<SystemTime>,
}

/// A line as JSON: the header, or an entry.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct TextLine {
    pub(crate) text: String,
    /// Milliseconds since 1970; `None` for the header, and for a line that isn't written yet.
    pub(crate) at: Option<u64>,
}

/// How many bytes of events are read at once, unless a single one is longer.
pub(crate) const EVENTS_PART: usize = 256 * 1024;

/// A change of a run.
#[derive(Serialize)]
pub(crate) struct Edit {
    /// The header, if the lines replace all earlier ones. They begin with it.
    #[serde(skip)]
    pub(crate) replaces: Option<Header>,
    pub(crate) lines: Vec<TextLine>,
    /// The number of the first of these lines, counted from 1.
    pub(crate) first: u64,
    /// The status after the change, if it is a different one.
    pub(crate) status: Option<&'static str>,
    pub(crate) waits: WaitChanges,
    /// Whether the run got further, so that it isn't one that fails each time.
    pub(crate) is_progress: bool,
    /// Whether the lines are the answers that were offered.
    pub(crate) takes_offered: bool,
}

/// Runs blocking work on one of tokio's blocking threads.
pub(crate) async fn blocking<T: Send + 'static>(
    place: String,
    work: impl FnOnce() -> Result<T, StoreError> + Send + 'static,
) -> Result<T, StoreError> {
    // Outside of a runtime, `spawn_blocking` would panic.
    let runtime = Handle::try_current().map_err(|_| StoreError::no_runtime(&place))?;
    runtime.spawn_blocking(work).await.unwrap_or_else(|error| {
        Err(StoreError::new(
            StoreErrorKind::Other,
            format_args!("{place}: it was interrupted: {error}"),
        ))
    })
}

/// Locks a mutex, also after a panic: nothing that this crate guards is left half changed by one.
pub(crate) fn guard<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
