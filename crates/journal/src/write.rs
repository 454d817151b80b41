//! Writes entries in the background while a run continues: in order, and many at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use async_trait::async_trait;
use cogwork_flow::BoxError;
use cogwork_flow::engine::{Entry, Log};
use serde::Serialize;
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;

use crate::backend::{Edit, Held, TextLine};
use crate::header::Header;
use crate::read::{Line, Record};
use crate::summary::Standing;
use crate::{RunEvents, StoreError, StoreErrorKind};

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
        // The database has these waits already.
        writer.standing.take_changes();
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

    async fn write(
        &mut self,
        replaces: bool,
        lines: Vec<Line>,
        takes_offered: bool,
    ) -> Result<(), StoreError> {
        let status = self.standing.name();
        let is_new = self.lines == 0;
        let mut texts = Vec::new();

        if replaces {
            // The new lines alone say how the run is.
            self.standing = Standing::default();
            self.lines = 0;
            texts.push(self.text(&self.header, None)?);
        }
        for Line { entry, at } in &lines {
            self.standing.add(entry);
            texts.push(self.text(entry, *at)?);
        }

        let first = self.lines + 1;
        self.lines += texts.len() as u64;
        let now = self.standing.name();
        let edit = Edit {
            replaces: replaces.then(|| self.header.clone()),
            lines: texts,
            first,
            // In PostgreSQL, an edit without a status is a single insert.
            status: (is_new || now != status).then_some(now),
            waits: self.standing.take_changes(),
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
pub(crate) enum Job {
    Append(Entry),
    /// Replace all earlier entries.
    Replace(Vec<Entry>),
    Event(String),
}

/// What was written so far.
#[derive(Default)]
pub(crate) struct Written {
    entries: u64,
    pub(crate) failed: Option<StoreError>,
    pub(crate) events: u64,
    pub(crate) events_failed: Option<StoreError>,
}

impl Written {
    pub(crate) fn has_failed_events(&self) -> bool {
        self.failed.is_some() || self.events_failed.is_some()
    }
}

/// The maximum number of jobs that are written at once.
const MAX_JOBS: usize = 10_000;

/// The maximum number of bytes of events that wait to be written.
pub(crate) const MAX_WAITING: usize = 16 << 20;

/// The events that were accepted.
#[derive(Default)]
pub(crate) struct Accepted {
    pub(crate) events: AtomicU64,
    /// The number of bytes that aren't written yet.
    pub(crate) waiting: AtomicUsize,
}

/// The log of a run. What is pushed is queued, and a task writes the whole queue at once.
pub(crate) struct RunLog {
    place: String,
    queue: mpsc::UnboundedSender<Job>,
    pushed: AtomicU64,
    accepted: Arc<Accepted>,
    written: watch::Receiver<Written>,
    /// Until when nobody else can take the run.
    until: Option<watch::Receiver<Result<Instant, StoreError>>>,
}

impl RunLog {
    /// Starts the task that writes. It ends, and gives the run back, once the log was dropped and all of
    /// its queue is written.
    pub(crate) fn start(place: String, writer: Writer) -> Self {
        let (queue, jobs) = mpsc::unbounded_channel();
        let (sender, written) = watch::channel(Written::default());
        let accepted = Arc::default();
        let until = writer.held.until();
        tokio::spawn(write_all(writer, jobs, sender, Arc::clone(&accepted)));

        Self {
            place,
            queue,
            pushed: AtomicU64::new(0),
            accepted,
            written,
            until,
        }
    }

    /// Waits until it is certain that nobody else has taken the run. Returns `None` if somebody has, and
    /// an error if the database cannot say.
    pub(crate) async fn is_held(&self) -> Option<Result<(), StoreError>> {
        let Some(mut until) = self.until.clone() else {
            return Some(Ok(()));
        };

        let is_known = |until: &Result<Instant, StoreError>| match until {
            Ok(until) => Instant::now() < *until,
            Err(_) => true,
        };
        let until = until.wait_for(is_known).await.ok()?;
        Some(until.clone().map(drop))
    }

    /// Returns where events are added.
    pub(crate) fn events(&self, run_id: &str) -> RunEvents {
        RunEvents {
            run_id: run_id.into(),
            queue: self.queue.downgrade(),
            accepted: Arc::clone(&self.accepted),
            written: self.written.clone(),
            run: None,
        }
    }

    fn push_job(&self, job: Job) -> u64 {
        // If the task has ended, whoever waits for the number gets an error.
        let _ = self.queue.send(job);
        // Numbers follow the order of the queue, since the index is locked meanwhile.
        self.pushed.fetch_add(1, Ordering::Relaxed) + 1
    }
}

/// What is written at once.
#[derive(Default)]
struct Batch {
    /// The number of jobs that change the record.
    changes: u64,
    replaces: bool,
    entries: Vec<Entry>,
    events: Vec<String>,
}

impl Batch {
    fn of(jobs: impl Iterator<Item = Job>) -> Self {
        let mut batch = Self::default();
        for job in jobs {
            // Those that a fold replaces count, too: somebody may wait for their numbers.
            batch.changes += u64::from(!matches!(job, Job::Event(_)));
            match job {
                Job::Append(entry) => batch.entries.push(entry),
                // What was queued before a fold is part of its snapshot.
                Job::Replace(entries) => (batch.replaces, batch.entries) = (true, entries),
                Job::Event(event) => batch.events.push(event),
            }
        }
        batch
    }
}

async fn write_all(
    mut writer: Writer,
    mut jobs: mpsc::UnboundedReceiver<Job>,
    written: watch::Sender<Written>,
    accepted: Arc<Accepted>,
) {
    let mut next = Vec::new();
    while jobs.recv_many(&mut next, MAX_JOBS).await > 0 {
        // Everything that waits, because a sync takes longer than writing its lines.
        let batch = Batch::of(next.drain(..));
        if batch.changes > 0 {
            let lines = batch.entries.into_iter();
            let lines = lines.map(|entry| Line { entry, at: None }).collect();
            // What was pushed after a failed write must not be written, as it would follow a gap.
            if let Err(error) = writer.write(batch.replaces, lines, false).await {
                written.send_modify(|written| written.failed = Some(error));
                break;
            }
            written.send_modify(|written| written.entries += batch.changes);
        }

        // The run goes on meanwhile, and also if its events cannot be written.
        let events = batch.events;
        if !events.is_empty() {
            let count = events.len() as u64;
            let bytes = events.iter().map(String::len).sum();
            let result = writer.held.write_events(events).await;
            accepted.waiting.fetch_sub(bytes, Ordering::Relaxed);
            written.send_modify(|written| match result {
                Ok(()) => written.events += count,
                Err(error) => written.events_failed = Some(error),
            });
        }
    }

    // Nobody else may take the run while its journal exists.
    while jobs.recv().await.is_some() {}
}

#[async_trait]
impl Log for RunLog {
    fn push(&self, entry: Entry) -> u64 {
        self.push_job(Job::Append(entry))
    }

    fn replace(&self, entries: Vec<Entry>) -> u64 {
        self.push_job(Job::Replace(entries))
    }

    async fn written(&self, number: u64) -> Result<(), BoxError> {
        let mut written = self.written.clone();
        let is_known = |written: &Written| written.entries >= number || written.failed.is_some();
        match written.wait_for(is_known).await {
            // What was written before the failure is there all the same.
            Ok(written) if written.entries >= number => Ok(()),
            Ok(written) => Err(failure(&written.failed, &self.place).into()),
            // The task was dropped.
            Err(_) => Err(failure(&None, &self.place).into()),
        }
    }
}

pub(crate) fn failure(error: &Option<StoreError>, place: &str) -> StoreError {
    error.clone().unwrap_or_else(|| {
        let text = format_args!("{place}: writing was interrupted: the runtime shut down");
        StoreError::new(StoreErrorKind::Other, text)
    })
}
