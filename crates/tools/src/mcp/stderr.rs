//! The last lines that a child process wrote to its standard error.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncRead, AsyncReadExt};

/// The maximum number of bytes that are kept.
const MAX_BYTES: usize = 2 * 1024;

/// The maximum number of lines that are shown.
const MAX_LINES: usize = 10;

/// The end of what was written to standard error. Clones share it.
#[derive(Clone, Default)]
pub(super) struct Stderr(Arc<Mutex<VecDeque<u8>>>);

impl Stderr {
    /// Reads until the end, so that the process never waits for room in the pipe.
    pub(super) async fn read(self, mut pipe: impl AsyncRead + Unpin) {
        let mut buffer = [0; 1024];

        while let Ok(count @ 1..) = pipe.read(&mut buffer).await {
            self.push(buffer.get(..count).unwrap_or_default());
        }
    }

    fn push(&self, bytes: &[u8]) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend(bytes);

        let excess = kept.len().saturating_sub(MAX_BYTES);
        kept.drain(..excess);
    }

    /// Returns the last lines, as they are.
    pub(super) fn lines(&self) -> String {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let text = String::from_utf8_lossy(kept.make_contiguous()).into_owned();
        drop(kept);

        let lines: Vec<&str> = text.trim().lines().collect();
        let first = lines.len().saturating_sub(MAX_LINES);
        lines.get(first..).unwrap_or_default().join("\n")
    }
}
