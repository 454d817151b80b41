//! The thread that writes lines to the file.

use std::fs::File;
use std::io::{self, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;
use std::{fmt, mem};

/// Writes lines in a thread. At most a number of bytes wait to be written.
pub(super) struct LineWriter {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    /// Notified when there is something to do for the thread.
    work: Condvar,
    /// Notified when the thread has written something.
    written: Condvar,
}

#[derive(Default)]
struct State {
    waiting: Vec<u8>,
    is_writing: bool,
    is_closed: bool,
    /// Whether somebody waits until all lines are written.
    is_flushing: bool,
    error: Option<io::Error>,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl LineWriter {
    pub(super) fn start(file: File) -> io::Result<Self> {
        let shared = Arc::new(Shared::default());
        let of_thread = Arc::clone(&shared);
        let thread = thread::Builder::new()
            .name("cogwork-trace".to_owned())
            .spawn(move || write_all(&of_thread, file))?;

        Ok(Self {
            shared,
            thread: Some(thread),
        })
    }

    /// Adds a line, unless more than `max` bytes would wait. Returns whether it was added.
    pub(super) fn push(&self, line: &[u8], max: usize) -> bool {
        let mut state = self.shared.lock();
        let fits = state.waiting.len().saturating_add(line.len()) <= max;
        if !fits || state.error.is_some() {
            return false;
        }

        let before = state.waiting.len();
        state.waiting.extend_from_slice(line);
        let is_enough = before < GATHERED && state.waiting.len() >= GATHERED;
        drop(state);

        if before == 0 || is_enough {
            self.shared.work.notify_one();
        }

        true
    }

    /// Waits until all lines are written. Returns the first error.
    pub(super) fn flush(&self) -> io::Result<()> {
        let mut state = self.shared.lock();
        loop {
            if let Some(error) = &state.error {
                return Err(io::Error::new(error.kind(), error.to_string()));
            }
            if state.waiting.is_empty() && !state.is_writing {
                return Ok(());
            }

            state.is_flushing = true;
            self.shared.work.notify_one();
            let waited = self.shared.written.wait(state);
            state = waited.unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Drop for LineWriter {
    fn drop(&mut self) {
        self.shared.lock().is_closed = true;
        self.shared.work.notify_one();

        if let Some(thread) = self.thread.take() {
            // A panic of the thread has no effect on the run.
            let _ = thread.join();
        }
    }
}

impl fmt::Debug for LineWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LineWriter").finish_non_exhaustive()
    }
}

fn write_all(shared: &Shared, mut file: File) {
    let mut lines = Vec::new();

    while take(shared, &mut lines) {
        let result = file.write_all(&lines);
        lines.clear();
        // After a single large event, the memory isn't needed any more.
        lines.shrink_to(MAX_KEPT);

        let mut state = shared.lock();
        state.is_writing = false;
        state.error = state.error.take().or(result.err());
        drop(state);
        shared.written.notify_all();
    }
}

/// The maximum capacity of a buffer that is kept, in bytes.
pub(super) const MAX_KEPT: usize = 1024 * 1024;

/// How long the thread waits for more lines. A thread that woke up for each line would take more of
/// the processor than the lines themselves.
const GATHERING: Duration = Duration::from_millis(5);

/// The number of bytes for which it doesn't wait any longer.
const GATHERED: usize = 256 * 1024;

/// Waits for lines, and takes them. Returns `false` after the end.
fn take(shared: &Shared, lines: &mut Vec<u8>) -> bool {
    let mut state = shared.lock();

    while state.waiting.is_empty() {
        if state.is_closed {
            return false;
        }
        let waited = shared.work.wait(state);
        state = waited.unwrap_or_else(PoisonError::into_inner);
    }

    let is_more_expected = |state: &mut State| {
        let is_urgent = state.is_flushing || state.is_closed;
        !is_urgent && state.waiting.len() < GATHERED
    };
    let gathered = shared
        .work
        .wait_timeout_while(state, GATHERING, is_more_expected);
    let (mut state, _) = gathered.unwrap_or_else(PoisonError::into_inner);

    mem::swap(&mut state.waiting, lines);
    state.is_flushing = false;
    state.is_writing = true;
    true
}
