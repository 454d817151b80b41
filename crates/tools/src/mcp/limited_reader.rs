//! A limit for the length of messages.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, ReadBuf};

/// Fails at a line that is too long. Without it, such a line would be skipped, and the call that it
/// answers would wait until its timeout.
pub(super) struct LimitedReader<R> {
    inner: R,
    max: usize,
    /// The bytes since the last line break.
    length: usize,
    /// Whether a line was too long.
    is_too_long: Arc<AtomicBool>,
}

impl<R> LimitedReader<R> {
    pub(super) fn new(inner: R, max: usize, is_too_long: Arc<AtomicBool>) -> Self {
        Self {
            inner,
            max,
            length: 0,
            is_too_long,
        }
    }

    /// Adds these bytes to the length of the lines, and returns whether each line fits.
    fn count(&mut self, bytes: &[u8]) -> bool {
        let mut lines = bytes.split(|byte| *byte == b'\n');
        let rest = lines.next().map_or(0, <[u8]>::len);
        self.length = self.length.saturating_add(rest);

        for line in lines {
            if self.length > self.max {
                return false;
            }
            self.length = line.len();
        }

        self.length <= self.max
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for LimitedReader<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.inner).poll_read(context, buffer))?;

        let read = buffer.filled().get(before..).unwrap_or_default();
        if self.count(read) {
            return Poll::Ready(Ok(()));
        }

        self.is_too_long.store(true, Ordering::Release);
        Poll::Ready(Err(io::Error::other("the message is too long")))
    }
}
