//! Reads a long file ahead, on other threads.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{Builder, JoinHandle};

use super::part::Part;
use super::positioned::{line_start, read_range};

/// The number of threads. Copying a file out of the cache of the operating system takes longer than
/// checking its lines, so one thread would not be enough.
const THREADS: usize = 2;

/// The maximum size of a part, in bytes, unless a line is longer. The memory of much smaller parts is
/// returned to the operating system and mapped again for each of them.
const MAX_SIZE: u64 = 4 << 20;

/// The number of parts that each thread has read and nobody uses yet.
const WAITING: usize = 1;

/// The parts of a file, which other threads read in turn.
pub(super) struct Ahead {
    threads: Vec<ReadThread>,
    next: usize,
    parts: usize,
}

struct ReadThread {
    parts: Receiver<io::Result<Part>>,
    thread: JoinHandle<()>,
}

/// The place of the parts in a file.
#[derive(Clone)]
struct Plan {
    file: Arc<File>,
    range: Range<u64>,
    parts: usize,
    max_line: usize,
}

impl Ahead {
    /// Starts to read a range of a file that begins with a line.
    pub(super) fn start(file: File, range: Range<u64>, max_line: usize) -> io::Result<Self> {
        let parts = parts(&range)?;
        let plan = Plan {
            file: Arc::new(file),
            range,
            parts,
            max_line,
        };

        let mut threads = Vec::with_capacity(THREADS);
        for first in 0..THREADS.min(parts) {
            threads.push(ReadThread::start(plan.clone(), first)?);
        }

        Ok(Self {
            threads,
            next: 0,
            parts,
        })
    }

    /// Returns the next part. It is empty at the end of the range.
    pub(super) fn next_part(&mut self) -> io::Result<Part> {
        while self.next < self.parts {
            let part = self.receive()?;
            self.next += 1;

            // A part is also empty if a long line goes through it.
            if !part.bytes().is_empty() {
                return Ok(part);
            }
        }

        Ok(Part::EMPTY)
    }

    fn receive(&self) -> io::Result<Part> {
        let thread = self.threads.get(self.next % THREADS);
        let received = thread.and_then(|thread| thread.parts.recv().ok());

        // This isn't the end of the file.
        let stopped = || io::Error::other("a thread that reads the file stopped");
        received.ok_or_else(stopped)?
    }
}

impl Drop for Ahead {
    fn drop(&mut self) {
        for ReadThread { parts, thread } in self.threads.drain(..) {
            // The thread stops when it can't send.
            drop(parts);
            let _ = thread.join();
        }
    }
}

impl ReadThread {
    fn start(plan: Plan, first: usize) -> io::Result<Self> {
        let (sender, parts) = sync_channel(WAITING);
        let thread = Builder::new()
            .name("cogwork-read-ahead".to_owned())
            .spawn(move || plan.read_from(first, &sender))?;

        Ok(Self { parts, thread })
    }
}

impl Plan {
    /// Reads a part and every further one that is this thread's.
    fn read_from(&self, first: usize, parts: &SyncSender<io::Result<Part>>) {
        for index in (first..self.parts).step_by(THREADS) {
            let part = self.read(index as u64);
            let has_failed = part.is_err();

            if parts.send(part).is_err() || has_failed {
                return;
            }
        }
    }

    fn read(&self, index: u64) -> io::Result<Part> {
        let start = self.border(index)?;
        let end = self.border(index + 1)?;

        let bytes = read_range(&self.file, start..end)?;
        Ok(Part::of(bytes))
    }

    /// Returns where a part starts, and the previous one ends. Both threads find the same place.
    fn border(&self, index: u64) -> io::Result<u64> {
        let size = length(&self.range).div_ceil(self.parts as u64);
        let start = self.range.start.saturating_add(index.saturating_mul(size));

        if index == 0 || start >= self.range.end {
            return Ok(start.min(self.range.end));
        }
        line_start(&self.file, start..self.range.end, self.max_line)
    }
}

/// Returns the number of parts, which is the same for each thread.
fn parts(range: &Range<u64>) -> io::Result<usize> {
    let least = length(range).div_ceil(MAX_SIZE);
    let parts = least.next_multiple_of(THREADS as u64);
    usize::try_from(parts).map_err(io::Error::other)
}

fn length(range: &Range<u64>) -> u64 {
    range.end.saturating_sub(range.start)
}
