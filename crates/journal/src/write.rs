//! Writes entries in the background while a run continues: in order, and many at once.

use std::sync::{Arc, Mutex, Weak};

use async_trait::async_trait;
use cogwork_flow::BoxError;
use cogwork_flow::journal::{Entry, Log};
use serde::Serialize;
use tokio::runtime::Handle;
use tokio::sync::watch;

use crate::backend::{Edit, Held, TextLine};
use crate::header::Header;
use crate::mutex::lock;
use crate::record::{Line, Record};
use crate::summary::Standing;
use crate::{RunEvents, StoreError};

/// Writes a run that was taken.
pub(crate) struct Writer {
    held: Box<dyn Held>,
    header: Header,
    standing: Standing,
    /// The number of lines.
    lines: u64,
}

impl Writer {
    /// Writes a new run.
    pub(crate) async fn start(held: Box<dyn Held>, new: Record) -> Result<Self, StoreError> {
        let mut writer = Self::new(held, new.header);
        writer.replace(new.lines).await?;
        Ok(writer)
    }

    /// Continues a run with these lines.
    pub(crate) fn resume(held: Box<dyn Held>, record: &Record) -> Self {
        let mut writer = Self::new(held, record.header.clone());
        for line in &record.lines {
            writer.standing.add(&line.entry);
        }
        writer.lines = record.lines.len() as u64 + 1;
        writer
    }

    fn new(held: Box<dyn Held>, header: Header) -> Self {
        Self {
            held,
            header,
            standing: Standing::default(),
            lines: 0,
        }
    }

    pub(crate) async fn replace(&mut self, lines: Vec<Line>) -> Result<(), StoreError> {
        self.write(true, lines, false).await
    }

    pub(crate) async fn append_offered(&mut self, lines: Vec<Line>) -> Result<(), StoreError> {
        self.write(false, lines, true).await
    }

    async fn put_events(&mut self, events: Vec<String>) -> Result<(), StoreError> {
        self.held.write_events(events).await
    }

    /// Writes the change that these jobs make together.
    async fn put(&mut self, jobs: &mut Vec<Job>) -> Result<(), StoreError> {
        if jobs.is_empty() {
            return Ok(());
        }

        let replaced = jobs.iter().rposition(|job| matches!(job, Job::Replace(_)));
        let entries = jobs.drain(..).skip(replaced.unwrap_or_default());
        let entries = entries.flat_map(|job| match job {
            Job::Append(entry) => vec![entry],
            Job::Replace(entries) => entries,
        });

        let lines = entries.map(|entry| Line { entry, at: None }).collect();
        self.write(replaced.is_some(), lines, false).await
    }

    async fn write(
        &mut self,
        replaces: bool,
        lines: Vec<Line>,
        takes_offered: bool,
    ) -> Result<(), StoreError> {
        let status = self.standing.name();
        let is_new = self.lines == 0;
        let mut waits = Vec::new();
        let mut texts = Vec::new();

        if replaces {
            waits.push(self.standing.clear());
            self.lines = 0;
            texts.push(self.text(&self.header, None)?);
        }
        for Line { entry, at } in &lines {
            waits.extend(self.standing.add(entry));
            texts.push(self.text(entry, *at)?);
        }

        let first = self.lines + 1;
        self.lines += texts.len() as u64;
        let now = self.standing.name();
        let edit = Edit {
            replaces: replaces.then(|| self.header.clone()),
            lines: texts,
            first,
            status: (is_new || now != status).then_some(now),
            waits,
            is_progress: replaces || lines.iter().any(|line| is_progress(&line.entry)),
            takes_offered,
        };
        self.held.write(edit).await
    }

    fn text(&self, value: &impl Serialize, at: Option<u64>) -> Result<TextLine, StoreError> {
        let text = serde_json::to_string(value).map_err(|error| {
            let run_id = cogwork_text::Name(&self.header.run_id);
            let what = format_args!("the run `{run_id}` cannot be written");
            StoreError::io(what, error.into())
        })?;
        Ok(TextLine { text, at })
    }
}

fn is_progress(entry: &Entry) -> bool {
    use Entry::{Ended, Outcome, Snapshot, Taken, TimedOut};
    matches!(
        entry,
        Outcome { .. } | Taken { .. } | TimedOut { .. } | Snapshot(_) | Ended { .. }
    )
}

/// What to write.
enum Job {
    /// Append an entry.
    Append(Entry),
    /// Replace all earlier entries.
    Replace(Vec<Entry>),
}

/// The log of a run. What is pushed is queued, and one task at a time writes the whole queue.
pub(crate) struct Behind(Arc<Shared>);

struct Shared {
    /// The run, for messages.
    place: String,
    queue: Mutex<Queue>,
    /// Only one task writes at a time, so the lock is never waited for.
    writer: tokio::sync::Mutex<Writer>,
    written: watch::Sender<Written>,
}

/// The maximum number of bytes of events that wait to be written.
const MAX_WAITING: usize = 16 << 20;

#[derive(Default)]
struct Queue {
    jobs: Vec<Job>,
    pushed: u64,
    events: Vec<String>,
    pushed_events: u64,
    /// The number of bytes of events that wait to be written, or are being written.
    waiting: usize,
    /// Whether a task is writing.
    is_active: bool,
}

#[derive(Default)]
pub(crate) struct Written {
    upto: u64,
    failed: Option<StoreError>,
    events: u64,
    events_failed: Option<StoreError>,
}

impl Written {
    /// Returns whether so many events were written, once it is known.
    pub(crate) fn has_events(&self, number: u64) -> Option<Result<(), StoreError>> {
        if self.events >= number {
            return Some(Ok(()));
        }

        let failed = self.events_failed.as_ref().or(self.failed.as_ref())?;
        Some(Err(failed.clone()))
    }
}

/// The queue of a run, as long as its journal exists.
#[derive(Clone)]
pub(crate) struct Queued(Weak<Shared>);

impl Queued {
    /// Queues an event. Returns its number, or `None` if it will not be written.
    pub(crate) fn push_event(&self, event: String) -> Option<u64> {
        let shared = self.0.upgrade()?;
        // Elsewhere, nobody could write it.
        Handle::try_current().ok()?;

        let mut queue = lock(&shared.queue);
        let has_failed = {
            let written = shared.written.borrow();
            written.failed.is_some() || written.events_failed.is_some()
        };
        if has_failed || queue.waiting.saturating_add(event.len()) > MAX_WAITING {
            return None;
        }

        queue.waiting += event.len();
        queue.events.push(event);
        queue.pushed_events += 1;
        let number = queue.pushed_events;

        let is_active = std::mem::replace(&mut queue.is_active, true);
        drop(queue);
        if !is_active {
            shared.start();
        }
        Some(number)
    }
}

impl Behind {
    pub(crate) fn new(place: String, writer: Writer) -> Self {
        Self(Arc::new(Shared {
            place,
            queue: Mutex::default(),
            writer: tokio::sync::Mutex::new(writer),
            written: watch::Sender::default(),
        }))
    }

    fn queue(&self, job: Job) -> u64 {
        let mut queue = lock(&self.0.queue);
        queue.jobs.push(job);
        queue.pushed += 1;
        let pushed = queue.pushed;

        if self.0.written.borrow().failed.is_some() {
            queue.jobs.clear();
            return pushed;
        }
        if std::mem::replace(&mut queue.is_active, true) {
            return pushed;
        }

        // Not under the lock: a runtime that shuts down drops the task here immediately.
        drop(queue);
        self.0.start();
        pushed
    }

    /// Returns where events are added.
    pub(crate) fn events(&self, run_id: &str) -> RunEvents {
        let queue = Queued(Arc::downgrade(&self.0));
        RunEvents::new(run_id, queue, self.0.written.subscribe())
    }
}

/// Writes until the queue is empty. If it is dropped earlier, all that wait for it fail.
struct WriteAll {
    shared: Arc<Shared>,
    /// Whether it found the queue empty, or failed. Another one may have started since.
    is_done: bool,
}

impl WriteAll {
    async fn run(mut self) {
        let shared = Arc::clone(&self.shared);
        let mut writer = shared.writer.lock().await;

        while let Some(Batch {
            mut jobs,
            upto,
            events,
            upto_event,
        }) = shared.next()
        {
            if let Err(error) = writer.put(&mut jobs).await {
                shared.fail(error);
                break;
            }
            shared.written.send_modify(|written| written.upto = upto);

            // The run goes on meanwhile, and also if its events cannot be written.
            let bytes = events.iter().map(String::len).sum::<usize>();
            let written = match events.is_empty() {
                true => Ok(()),
                false => writer.put_events(events).await,
            };
            shared.note_events(upto_event, bytes, written);
        }

        self.is_done = true;
    }
}

impl Drop for WriteAll {
    fn drop(&mut self) {
        if !self.is_done {
            self.shared.fail(self.shared.interrupted());
        }
    }
}

/// What is written at once.
struct Batch {
    jobs: Vec<Job>,
    /// The number of the last job.
    upto: u64,
    events: Vec<String>,
    /// The number of the last event.
    upto_event: u64,
}

impl Shared {
    /// Starts to write what is queued.
    fn start(self: &Arc<Self>) {
        let task = WriteAll {
            shared: Arc::clone(self),
            is_done: false,
        };
        match Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn(task.run())),
            Err(_) => self.fail(StoreError::no_runtime(&self.place)),
        }
    }

    /// Takes everything that is queued. Returns `None` if there is nothing, which ends the task.
    fn next(&self) -> Option<Batch> {
        let mut queue = lock(&self.queue);
        queue.is_active = !queue.jobs.is_empty() || !queue.events.is_empty();
        queue.is_active.then(|| Batch {
            jobs: std::mem::take(&mut queue.jobs),
            upto: queue.pushed,
            events: std::mem::take(&mut queue.events),
            upto_event: queue.pushed_events,
        })
    }

    fn note_events(&self, upto: u64, bytes: usize, result: Result<(), StoreError>) {
        lock(&self.queue).waiting -= bytes;
        self.written.send_modify(|written| match result {
            Ok(()) => written.events = upto,
            Err(error) => written.events_failed = Some(error),
        });
    }

    fn fail(&self, error: StoreError) {
        self.written.send_modify(|written| {
            written.failed.get_or_insert(error);
        });
        let mut queue = lock(&self.queue);
        queue.is_active = false;
        queue.jobs.clear();
        queue.events.clear();
    }

    fn interrupted(&self) -> StoreError {
        StoreError::interrupted(&self.place)
    }
}

#[async_trait]
impl Log for Behind {
    fn push(&self, entry: Entry) -> u64 {
        self.queue(Job::Append(entry))
    }

    fn replace(&self, entries: Vec<Entry>) -> u64 {
        self.queue(Job::Replace(entries))
    }

    async fn written(&self, number: u64) -> Result<(), BoxError> {
        let mut written = self.0.written.subscribe();
        let is_known = |written: &Written| written.upto >= number || written.failed.is_some();

        match written.wait_for(is_known).await {
            Ok(written) if written.upto >= number => Ok(()),
            Ok(written) => Err(match &written.failed {
                Some(error) => error.clone().into(),
                None => self.0.interrupted().into(),
            }),
            // The sender lives as long as `self`.
            Err(_) => Err(self.0.interrupted().into()),
        }
    }
}
