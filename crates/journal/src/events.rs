//! What happened in a run, for people: events beside what is needed to continue it.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::watch;

use crate::StoreError;
use crate::write::{Queued, Written};

/// Adds events to the journal of a run, such as requests and replies of models.
///
/// Events are for people: a run continues without them. They are written behind, so a crash may lose
/// the last ones, and an error of the disk doesn't fail the run. Each is a JSON text; the crate
/// `cogwork-trace` makes them of what happens in a run, and a page of them.
///
/// This doesn't keep the run in use: once its [journal](crate::RunJournal) is dropped, no more
/// events are accepted.
///
/// ```
/// use cogwork_flow::{Flow, from_fn};
/// use cogwork_journal::Store;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// let flow = Flow::from_node("one", from_fn(|n: &mut u32| *n += 1))?;
///
/// let store = Store::files(folder.path());
/// let journal = store.start("7", &flow, &41).await?;
/// let events = journal.events();
/// assert!(events.push(r#"{"type":"asked"}"#.to_owned()));
/// events.written().await?;
///
/// let read = store.events("7", 0).await?;
/// assert_eq!(read[0].json, r#"{"type":"asked"}"#);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct RunEvents {
    run_id: Arc<str>,
    queue: Queued,
    written: watch::Receiver<Written>,
    /// The number of the last event that was accepted.
    last: Arc<AtomicU64>,
}

impl RunEvents {
    pub(crate) fn new(run_id: &str, queue: Queued, written: watch::Receiver<Written>) -> Self {
        Self {
            run_id: run_id.into(),
            queue,
            written,
            last: Arc::default(),
        }
    }

    /// Returns the id of the run.
    pub fn run_id(&self) -> &str {
        &self.run_id
    }

    /// Adds an event, a JSON text. It is written soon; this doesn't wait.
    ///
    /// Returns `false`, and drops the event, if too many bytes wait to be written (16 MiB), if events
    /// of this run could not be written, if its journal was dropped, or outside of a tokio runtime.
    pub fn push(&self, event: String) -> bool {
        let Some(number) = self.queue.push_event(event) else {
            return false;
        };

        self.last.fetch_max(number, Ordering::Relaxed);
        true
    }

    /// Waits until all events that were accepted are written. They are not synced to disk: a crash of
    /// the machine, unlike one of the process, may still lose them.
    ///
    /// # Errors
    ///
    /// Returns the error for which some were not written.
    pub async fn written(&self) -> Result<(), StoreError> {
        let last = self.last.load(Ordering::Relaxed);
        let mut written = self.written.clone();
        let is_known = |written: &Written| written.has_events(last).is_some();

        let known = match written.wait_for(is_known).await {
            Ok(written) => written.has_events(last),
            // Nobody writes any more.
            Err(_) => self.written.borrow().has_events(last),
        };
        known.unwrap_or_else(|| Err(StoreError::interrupted(&self.run_id)))
    }
}

impl fmt::Debug for RunEvents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunEvents")
            .field("run_id", &self.run_id)
            .finish_non_exhaustive()
    }
}

/// An event of a run, as it was [added](RunEvents::push).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct EventLine {
    /// The event, in one line. After a crash, the last one may be incomplete, and isn't JSON then.
    pub json: String,
    /// The position after it, from which [`Store::events`](crate::Store::events) goes on.
    pub next: u64,
}
