//! What happened in a run, for people: events beside what is needed to continue it.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use tokio::sync::{mpsc, watch};

use crate::write::{Accepted, Job, MAX_WAITING, Written, failure};
use crate::{RunJournal, StoreError};

/// Adds events to the journal of a run, such as requests and replies of models.
///
/// Events are for people: a run continues without them. They are written behind, so a crash may lose
/// the last ones, and an error of the disk doesn't fail the run. Each is a JSON text; the crate
/// `cogwork-trace` makes them of what happens in a run, and a page of them.
///
/// This doesn't keep the run in use, unless it is all that is left of its journal: once the
/// [journal](crate::RunJournal) is dropped, no more events are accepted.
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
    pub(crate) run_id: Arc<str>,
    pub(crate) queue: mpsc::WeakUnboundedSender<Job>,
    pub(crate) accepted: Arc<Accepted>,
    pub(crate) written: watch::Receiver<Written>,
    /// The journal of a run that is kept in use.
    pub(crate) run: Option<Arc<RunJournal>>,
}

impl RunEvents {
    /// Returns the id of the run.
    pub fn run_id(&self) -> &str {
        &self.run_id
    }

    /// Adds an event, a JSON text. It is written soon; this doesn't wait.
    ///
    /// Returns `false`, and drops the event, if too many bytes wait to be written (16 MiB), if events
    /// of this run could not be written, or if its journal was dropped.
    pub fn push(&self, event: String) -> bool {
        // Only the journal owns the queue, so that a recorder doesn't keep the run in use.
        let Some(queue) = self.queue.upgrade() else {
            return false;
        };
        let Accepted { events, waiting } = &*self.accepted;
        // Counted in bytes: a slow disk must not let the events of a model fill the memory.
        let bytes = waiting.load(Ordering::Relaxed) + event.len();
        if bytes > MAX_WAITING || self.written.borrow().has_failed_events() {
            return false;
        }

        // Before it is sent, because the writer may be done with it before this goes on.
        waiting.fetch_add(event.len(), Ordering::Relaxed);
        events.fetch_add(1, Ordering::Relaxed);
        queue.send(Job::Event(event)).is_ok()
    }

    /// Waits until all events that were accepted are written. They are not synced to disk: a crash of
    /// the machine, unlike one of the process, may still lose them.
    ///
    /// # Errors
    ///
    /// Returns the error for which some were not written.
    pub async fn written(&self) -> Result<(), StoreError> {
        // What is pushed from now on isn't waited for.
        let accepted = self.accepted.events.load(Ordering::Relaxed);
        let mut written = self.written.clone();
        let is_known =
            |written: &Written| written.events >= accepted || written.has_failed_events();

        match written.wait_for(is_known).await {
            Ok(written) if written.events >= accepted => Ok(()),
            Ok(written) => {
                let error = written.events_failed.clone().or(written.failed.clone());
                Err(failure(&error, &self.run_id))
            }
            Err(_) => Err(failure(&None, &self.run_id)),
        }
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
