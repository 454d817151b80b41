//! Lines of bounded length.

use rmcp::model::RequestId;
use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};

use super::id_finder::IdFinder;

/// The capacity that is kept for the next line, in bytes.
const KEPT_CAPACITY: usize = 64 * 1024;

/// A line, or what there is instead of one.
#[derive(Debug)]
pub(crate) enum Line {
    /// A whole line, without its end.
    Whole(Vec<u8>),
    /// A line that was too long and has been dropped, with the id of the request in it.
    TooLong(Option<RequestId>),
    /// The end of the input.
    End,
}

/// Reads lines, and holds at most one line of the maximum length in memory.
#[derive(Debug)]
pub(crate) struct Lines<R> {
    reader: BufReader<R>,
    max_bytes: usize,
    line: Vec<u8>,
    /// Reads the rest of a line that is too long.
    dropping: Option<IdFinder>,
}

/// A piece of a line.
struct Piece {
    bytes: usize,
    ends_line: bool,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    pub(crate) fn new(reader: R, max_bytes: usize) -> Self {
        Self {
            reader: BufReader::with_capacity(32 * 1024, reader),
            max_bytes,
            line: Vec::new(),
            dropping: None,
        }
    }

    /// Returns the next line. If the future is dropped, nothing is lost.
    pub(crate) async fn next(&mut self) -> Line {
        loop {
            let available = match self.reader.fill_buf().await {
                Ok(available) => available,
                Err(error) => {
                    tracing::warn!(%error, "the input cannot be read");
                    return self.end();
                }
            };
            if available.is_empty() {
                return self.end();
            }

            let piece = Piece::first(available);
            let text = available.get(..piece.bytes).unwrap_or_default();
            let is_too_long = self.line.len().saturating_add(text.len()) > self.max_bytes;

            if let Some(finder) = &mut self.dropping {
                finder.read(text);
            } else if is_too_long {
                let mut finder = IdFinder::default();
                finder.read(&self.line);
                finder.read(text);
                self.dropping = Some(finder);
                self.line = Vec::new();
            } else {
                self.line.extend_from_slice(text);
            }

            self.reader.consume(piece.bytes);
            if piece.ends_line {
                self.reader.consume(1);
                return self.take();
            }
        }
    }

    /// Returns the next line, without its end, if the whole of it has been read already.
    pub(crate) fn buffered(&self) -> Option<&[u8]> {
        if !self.line.is_empty() || self.dropping.is_some() {
            return None;
        }
        let buffer = self.reader.buffer();
        let piece = Piece::first(buffer);
        let line = buffer.get(..piece.bytes)?;
        (piece.ends_line && line.len() <= self.max_bytes).then_some(line)
    }

    /// Skips the next line, whose length without its end is given.
    pub(crate) fn skip(&mut self, bytes: usize) {
        self.reader.consume(bytes.saturating_add(1));
    }

    /// Returns the last line if the input doesn't end with a line break.
    fn end(&mut self) -> Line {
        if self.line.is_empty() && self.dropping.is_none() {
            return Line::End;
        }
        self.take()
    }

    fn take(&mut self) -> Line {
        if let Some(finder) = self.dropping.take() {
            return Line::TooLong(finder.finish());
        }

        let capacity = self.line.capacity().min(KEPT_CAPACITY);
        Line::Whole(std::mem::replace(
            &mut self.line,
            Vec::with_capacity(capacity),
        ))
    }
}

impl Piece {
    fn first(available: &[u8]) -> Self {
        let end = memchr::memchr(b'\n', available);
        Self {
            bytes: end.unwrap_or(available.len()),
            ends_line: end.is_some(),
        }
    }
}
