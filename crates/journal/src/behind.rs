//! Writes entries in the background while a run continues: in order, and many entries at once.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use cogwork_flow::BoxError;
use cogwork_flow::journal::{Entry, Log};
use tokio::runtime::Handle;
use tokio::sync::watch;

use crate::StoreError;
use crate::error::Kind;
use crate::line::Line;
use crate::mutex::lock;

/// A change to write.
pub(crate) enum Job {
    /// Append an entry.
    Append(Entry),
    /// Replace all earlier entries.
    Replace(Vec<Entry>),
}

impl Job {
    /// Merges jobs into the change that they make together. `at` is the time of the change; a
    /// database may have its own clock.
    pub(crate) fn merged(jobs: Vec<Self>, at: Option<u64>) -> Edit {
        let mut edit = Edit::default();
        let line = |entry| Line { entry, at };

        for job in jobs {
            match job {
                Self::Append(entry) => edit.appended.push(line(entry)),
                Self::Replace(entries) => {
                    edit = Edit::replace(entries.into_iter().map(line).collect());
                }
            }
        }

        edit
    }
}

/// A change of a record.
#[derive(Default)]
pub(crate) struct Edit {
    /// Entries that replace the whole record.
    pub(crate) replacement: Option<Vec<Line>>,
    /// Entries to append after that.
    pub(crate) appended: Vec<Line>,
}

impl Edit {
    pub(crate) fn replace(lines: Vec<Line>) -> Self {
        Self {
            replacement: Some(lines),
            appended: Vec::new(),
        }
    }

    /// Returns the last line, if there is any but the header.
    #[cfg(feature = "sqlite")]
    pub(crate) fn last(&self) -> Option<&Line> {
        let replaced = self.replacement.as_deref().and_then(<[Line]>::last);
        self.appended.last().or(replaced)
    }

    /// Returns whether the run got further, so that it isn't one that fails each time.
    #[cfg(feature = "postgres")]
    pub(crate) fn is_progress(&self) -> bool {
        let is_progress = |line: &Line| {
            use Entry::{Ended, Outcome, Snapshot, Taken, TimedOut};
            matches!(
                line.entry,
                Outcome { .. } | Taken { .. } | TimedOut { .. } | Snapshot(_) | Ended { .. }
            )
        };
        self.appended.iter().any(is_progress) || self.replacement.is_some()
    }
}

/// Writes queued changes.
#[async_trait]
pub(crate) trait Write: Send + 'static {
    /// Returns whether writing blocks its thread.
    fn blocks(&self) -> bool;

    /// Writes all changes durably, in order. Isn't called again after an error.
    async fn write(&mut self, jobs: Vec<Job>) -> Result<(), StoreError>;
}

/// The log of a run. Pushed entries are queued, and one thread or task at a time writes the whole
/// queue. A separate thread for each run would be simpler, but too much for thousands of runs.
pub(crate) struct Behind(Arc<Shared>);

struct Shared {
    /// The file or the run, for messages.
    place: String,
    queue: Mutex<Queue>,
    /// Only one writes at a time, so the lock is never waited for.
    writer: tokio::sync::Mutex<Box<dyn Write>>,
    /// Whether writing blocks its thread.
    blocks: bool,
    written: watch::Sender<Written>,
}

#[derive(Default)]
struct Queue {
    jobs: Vec<Job>,
    pushed: u64,
    /// Whether a thread is writing.
    active: bool,
}

#[derive(Default)]
struct Written {
    upto: u64,
    failed: Option<StoreError>,
}

impl Behind {
    pub(crate) fn new(place: String, writer: impl Write) -> Self {
        let queue = Mutex::default();
        let (written, _) = watch::channel(Written::default());

        Self(Arc::new(Shared {
            place,
            queue,
            blocks: writer.blocks(),
            writer: tokio::sync::Mutex::new(Box::new(writer)),
            written,
        }))
    }

    fn queue(&self, jobs: impl IntoIterator<Item = Job>) -> u64 {
        let (number, idle) = {
            let mut queue = lock(&self.0.queue);
            let before = queue.jobs.len();
            queue.jobs.extend(jobs);
            queue.pushed += (queue.jobs.len() - before) as u64;

            if self.0.written.borrow().failed.is_some() {
                queue.jobs.clear();
                return queue.pushed;
            }

            (queue.pushed, !std::mem::replace(&mut queue.active, true))
        };

        // Not under the lock: a runtime that shuts down drops the work here immediately.
        if idle {
            let drain = Drain {
                shared: Arc::clone(&self.0),
                done: false,
            };
            match Handle::try_current() {
                Ok(runtime) => drain.start(&runtime),
                Err(_) => drain.fail(StoreError::no_runtime(&self.0.place)),
            }
        }

        number
    }
}

#[async_trait]
impl Log for Behind {
    fn push(&self, entry: Entry) -> u64 {
        self.queue([Job::Append(entry)])
    }

    fn push_all(&self, entries: Vec<Entry>) -> u64 {
        self.queue(entries.into_iter().map(Job::Append))
    }

    fn replace(&self, entries: Vec<Entry>) -> u64 {
        self.queue([Job::Replace(entries)])
    }

    async fn written(&self, number: u64) -> Result<(), BoxError> {
        let mut written = self.0.written.subscribe();
        let seen = written
            .wait_for(|written| written.upto >= number || written.failed.is_some())
            .await;
        match seen {
            Ok(written) if written.upto >= number => Ok(()),
            Ok(written) => Err(written
                .failed
                .clone()
                .map_or_else(|| self.broken_off(), Into::into)),
            // The sender lives as long as `self`.
            Err(_) => Err(self.broken_off()),
        }
    }
}

impl Behind {
    fn broken_off(&self) -> BoxError {
        self.0.broken_off().into()
    }
}

impl Shared {
    fn broken_off(&self) -> StoreError {
        let place = &self.place;
        StoreError::new(
            Kind::Other,
            format_args!("{place}: writing was interrupted: the runtime shut down"),
        )
    }
}

/// Changes that are written together.
struct Batch {
    jobs: Vec<Job>,
    /// The number of the last one.
    upto: u64,
}

/// Writes until the queue is empty. If it is dropped earlier, all waiting futures fail.
struct Drain {
    shared: Arc<Shared>,
    done: bool,
}

impl Drain {
    fn start(self, runtime: &Handle) {
        if self.shared.blocks {
            let blocking = runtime.clone();
            drop(runtime.spawn_blocking(move || blocking.block_on(self.run())));
        } else {
            drop(runtime.spawn(self.run()));
        }
    }

    async fn run(mut self) {
        let shared = Arc::clone(&self.shared);
        let mut writer = shared.writer.lock().await;

        while let Some(batch) = self.next() {
            if let Err(error) = writer.write(batch.jobs).await {
                drop(writer);
                return self.fail(error);
            }

            self.wrote(batch.upto);
        }
    }

    /// Takes everything that is queued. Returns `None` if there is nothing, which ends the work.
    fn next(&mut self) -> Option<Batch> {
        let mut queue = lock(&self.shared.queue);
        if queue.jobs.is_empty() {
            queue.active = false;
            self.done = true;
            return None;
        }

        Some(Batch {
            jobs: std::mem::take(&mut queue.jobs),
            upto: queue.pushed,
        })
    }

    fn wrote(&self, upto: u64) {
        let written = &self.shared.written;
        written.send_modify(|written| written.upto = upto);
    }

    fn fail(mut self, error: StoreError) {
        self.done = true;
        self.shared
            .written
            .send_modify(|written| written.failed = Some(error));
        lock(&self.shared.queue).jobs.clear();
    }
}

impl Drop for Drain {
    fn drop(&mut self) {
        if !self.done {
            let error = self.shared.broken_off();
            self.shared
                .written
                .send_modify(|written| written.failed = Some(error));
        }
    }
}

/// Runs blocking work on one of tokio's blocking threads.
pub(crate) async fn blocking<T: Send + 'static>(
    place: String,
    work: impl FnOnce() -> Result<T, StoreError> + Send + 'static,
) -> Result<T, StoreError> {
    let runtime = Handle::try_current().map_err(|_| StoreError::no_runtime(&place))?;
    runtime.spawn_blocking(work).await.unwrap_or_else(|error| {
        Err(StoreError::new(
            Kind::Other,
            format_args!("{place}: it was interrupted: {error}"),
        ))
    })
}
