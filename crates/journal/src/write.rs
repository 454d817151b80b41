//! Writes entries in the background while a run continues: in order, and many at once.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use cogwork_flow::BoxError;
use cogwork_flow::journal::{Entry, Log};
use serde::Serialize;
use tokio::runtime::Handle;
use tokio::sync::watch;

use crate::StoreError;
use crate::backend::{Edit, Held, TextLine};
use crate::error::Kind;
use crate::header::Header;
use crate::mutex::lock;
use crate::record::{Line, Record};
use crate::summary::Standing;

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

    /// Writes the change that these jobs make together.
    async fn put(&mut self, jobs: &mut Vec<Job>) -> Result<(), StoreError> {
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

#[derive(Default)]
struct Queue {
    jobs: Vec<Job>,
    pushed: u64,
    /// Whether a task is writing.
    is_active: bool,
}

#[derive(Default)]
struct Written {
    upto: u64,
    failed: Option<StoreError>,
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
        let task = WriteAll(Arc::clone(&self.0));
        match Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn(task.run())),
            Err(_) => self.0.fail(StoreError::no_runtime(&self.0.place)),
        }
        pushed
    }
}

/// Writes until the queue is empty. If it is dropped earlier, all that wait for it fail.
struct WriteAll(Arc<Shared>);

impl WriteAll {
    async fn run(self) {
        let mut writer = self.0.writer.lock().await;

        while let Some((mut jobs, upto)) = self.0.next() {
            if let Err(error) = writer.put(&mut jobs).await {
                self.0.fail(error);
                return;
            }
            self.0.written.send_modify(|written| written.upto = upto);
        }
    }
}

impl Drop for WriteAll {
    fn drop(&mut self) {
        if lock(&self.0.queue).is_active {
            self.0.fail(self.0.interrupted());
        }
    }
}

impl Shared {
    /// Takes everything that is queued, and the number of the last job. Returns `None` if there is
    /// nothing, which ends the task.
    fn next(&self) -> Option<(Vec<Job>, u64)> {
        let mut queue = lock(&self.queue);
        queue.is_active = !queue.jobs.is_empty();
        let jobs = std::mem::take(&mut queue.jobs);
        queue.is_active.then_some((jobs, queue.pushed))
    }

    fn fail(&self, error: StoreError) {
        self.written.send_modify(|written| {
            written.failed.get_or_insert(error);
        });
        let mut queue = lock(&self.queue);
        queue.is_active = false;
        queue.jobs.clear();
    }

    fn interrupted(&self) -> StoreError {
        let place = &self.place;
        let text = format_args!("{place}: writing was interrupted: the runtime shut down");
        StoreError::new(Kind::Other, text)
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
