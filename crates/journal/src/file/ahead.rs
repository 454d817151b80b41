//! Reads a long file ahead, on another thread.

use std::fs::File;
use std::io;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{Builder, JoinHandle};

use super::reader::{Part, Reader};

/// The number of parts that are read and not used yet, without the one that is being read.
const WAITING: usize = 1;

/// The parts of a file, which another thread reads.
///
/// Dropping this waits for the thread, because it shares the position in the file.
pub(super) struct Ahead {
    parts: Option<Receiver<io::Result<Part>>>,
    thread: Option<JoinHandle<()>>,
    has_ended: bool,
}

impl Ahead {
    pub(super) fn start(reader: Reader<File>) -> io::Result<Self> {
        let (sender, parts) = sync_channel(WAITING);
        let thread = Builder::new()
            .name("cogwork-read-ahead".to_owned())
            .spawn(move || read_all(reader, &sender))?;

        Ok(Self {
            parts: Some(parts),
            thread: Some(thread),
            has_ended: false,
        })
    }

    /// Returns the next part. It is empty at the end of the file.
    pub(super) fn next_part(&mut self) -> io::Result<Part> {
        if self.has_ended {
            return Ok(Part::EMPTY);
        }

        let received = self.parts.as_ref().and_then(|parts| parts.recv().ok());
        let Some(part) = received else {
            // This isn't the end of the file.
            return Err(io::Error::other("the thread that reads the file stopped"));
        };

        self.has_ended = is_last(&part);
        part
    }
}

impl Drop for Ahead {
    fn drop(&mut self) {
        // The thread stops when it can't send.
        self.parts = None;

        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn read_all(mut reader: Reader<File>, parts: &SyncSender<io::Result<Part>>) {
    loop {
        let part = reader.next_part();
        let is_last = is_last(&part);

        if parts.send(part).is_err() || is_last {
            return;
        }
    }
}

/// Returns whether nothing is read after a part: an error, or a part without a whole line.
fn is_last(part: &io::Result<Part>) -> bool {
    part.as_ref()
        .map_or(true, |part| part.bytes().last() != Some(&b'\n'))
}
