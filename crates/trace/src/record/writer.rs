use std::io::{self, Write};

use super::event::RecordedEvent;
use super::header::Header;

/// Writes a record by hand, for example to convert one, or in a test.
///
/// ```
/// use cogwork_trace::{Header, RecordReader, RecordWriter, RecordedEvent, RecordedKind};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut writer = RecordWriter::new(Vec::new(), &Header::new("order-17", "shop", 1763875000.5))?;
/// writer.write(&RecordedEvent::new(0.25, RecordedKind::RunStarted))?;
/// let record = writer.into_inner();
///
/// let mut reader = RecordReader::new(record.as_slice())?;
/// assert_eq!(reader.next().transpose()?.map(|event| event.at), Some(0.25));
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct RecordWriter<W> {
    target: W,
}

impl<W: Write> RecordWriter<W> {
    /// Writes the header.
    ///
    /// # Errors
    ///
    /// Returns the error of the target, or an error if a number isn't finite.
    pub fn new(mut target: W, header: &Header) -> io::Result<Self> {
        let mut line = serde_json::to_vec(header)?;
        line.push(b'\n');
        target.write_all(&line)?;

        Ok(Self { target })
    }

    /// Writes an event as one line.
    ///
    /// # Errors
    ///
    /// The same as [`new`](Self::new).
    pub fn write(&mut self, event: &RecordedEvent) -> io::Result<()> {
        let mut line = event.to_json()?;
        line.push('\n');
        self.target.write_all(line.as_bytes())
    }

    /// Returns the target.
    pub fn into_inner(self) -> W {
        self.target
    }
}
