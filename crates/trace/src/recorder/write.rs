//! The thread that writes lines to the file.

use std::fs::File;
use std::io::{self, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, Sender, SyncSender};
use std::sync::{Arc, OnceLock};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Writes lines in a thread. At most a number of bytes wait to be written.
#[derive(Debug)]
pub(super) struct LineWriter {
    /// `None` only while the writer is dropped.
    messages: Option<Sender<Message>>,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Shared {
    /// The number of bytes that wait to be written.
    waiting: AtomicUsize,
    /// The first error, after which nothing more is written.
    error: OnceLock<io::Error>,
}

#[derive(Debug)]
enum Message {
    Line(Vec<u8>),
    /// Is dropped once everything before it is written.
    Flush(SyncSender<()>),
}

impl LineWriter {
    pub(super) fn start(file: File) -> io::Result<Self> {
        let shared = Arc::new(Shared::default());
        let of_thread = Arc::clone(&shared);
        let (messages, receiver) = mpsc::channel();
        let thread = thread::Builder::new()
            .name("cogwork-trace".to_owned())
            .spawn(move || write_all(&of_thread, &receiver, file))?;

        Ok(Self {
            messages: Some(messages),
            shared,
            thread: Some(thread),
        })
    }

    /// Adds a line, unless more than `max` bytes would wait. Returns whether it was added.
    pub(super) fn push(&self, line: Vec<u8>, max: usize) -> bool {
        let waiting = self.shared.waiting.load(Ordering::Relaxed);
        let fits = waiting.saturating_add(line.len()) <= max;
        if !fits || self.shared.error.get().is_some() {
            return false;
        }

        self.shared.waiting.fetch_add(line.len(), Ordering::Relaxed);
        self.send(Message::Line(line))
    }

    /// Waits until all lines are written. Returns the first error.
    pub(super) fn flush(&self) -> io::Result<()> {
        let (written, done) = mpsc::sync_channel(1);
        self.send(Message::Flush(written));
        // The channel closes, since nothing is sent.
        let _ = done.recv();

        match self.shared.error.get() {
            Some(error) => Err(io::Error::new(error.kind(), error.to_string())),
            None => Ok(()),
        }
    }

    fn send(&self, message: Message) -> bool {
        let messages = self.messages.as_ref();
        messages.is_some_and(|messages| messages.send(message).is_ok())
    }
}

impl Drop for LineWriter {
    fn drop(&mut self) {
        self.messages = None;

        if let Some(thread) = self.thread.take() {
            // A panic of the thread has no effect on the run.
            let _ = thread.join();
        }
    }
}

/// How long the thread waits for more lines. A thread that woke up for each line would take more of
/// the processor than the lines themselves.
const GATHERING: Duration = Duration::from_millis(5);

fn write_all(shared: &Shared, messages: &Receiver<Message>, mut file: File) {
    while let Ok(first) = messages.recv() {
        if matches!(first, Message::Line(_)) {
            thread::sleep(GATHERING);
        }

        let mut lines = Vec::new();
        let mut flushes = Vec::new();
        for message in [first].into_iter().chain(messages.try_iter()) {
            match message {
                Message::Line(line) => lines.extend(line),
                Message::Flush(written) => flushes.push(written),
            }
        }

        if let Err(error) = file.write_all(&lines) {
            let _ = shared.error.set(error);
        }
        shared.waiting.fetch_sub(lines.len(), Ordering::Relaxed);
    }
}
