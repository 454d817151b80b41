//! The record of a run as a page: one HTML file that opens from disk, without a network.

mod assets;
mod budget;
mod encode;
mod html;
mod parts;

pub use parts::PageParts;

use std::io::{self, BufRead, Write};

use crate::{Header, RecordError, RecordReader};

use budget::Budget;

/// The record of a run as a page.
///
/// The page is one HTML file without references to anything else. It contains the record, a style
/// and a script, and a policy that allows nothing but these, so text of a model cannot become
/// markup. It is at most a few megabytes large: texts of a large record are shortened, and if that
/// isn't enough, events in its middle are left out. The page shows what isn't in it; see
/// [`notes`](Self::notes).
///
/// ```
/// use cogwork_trace::{Page, RecordReader};
///
/// let record = "\
/// {\"cogwork_record\":1,\"run\":\"order-17\",\"flow\":\"shop\",\"started\":1763875000.5}
/// {\"at\":0.0,\"type\":\"run_started\"}
/// ";
/// let page = Page::read(RecordReader::new(record.as_bytes())?)?;
///
/// let mut html = Vec::new();
/// page.write(&mut html)?;
/// assert!(html.starts_with(b"<!DOCTYPE html>"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Page {
    header: Header,
    lines: Vec<String>,
    notes: Vec<String>,
}

impl Page {
    /// The default maximum number of bytes of the events: 48 MiB.
    pub const DEFAULT_MAX_BYTES: usize = 48 * 1024 * 1024;

    /// Reads a record until its end, and shows at most [`DEFAULT_MAX_BYTES`](Self::DEFAULT_MAX_BYTES)
    /// of its events.
    ///
    /// # Errors
    ///
    /// Returns an error if the record cannot be read. Damaged lines are left out.
    pub fn read<R: BufRead>(reader: RecordReader<R>) -> Result<Self, RecordError> {
        Self::read_with(reader, Self::DEFAULT_MAX_BYTES)
    }

    /// Reads a record until its end, and shows at most so many bytes of its events. In the page, they are
    /// compressed, usually to less than a tenth.
    ///
    /// # Errors
    ///
    /// The same as [`read`](Self::read).
    pub fn read_with<R: BufRead>(
        mut reader: RecordReader<R>,
        max_bytes: usize,
    ) -> Result<Self, RecordError> {
        let mut budget = Budget::new(max_bytes);
        let mut damage = Damage::default();

        while let Some(event) = reader.next() {
            match event {
                Ok(_) => budget.add(reader.json()),
                Err(error) => damage.add(error)?,
            }
        }

        let mut notes = damage.notes;
        if damage.more > 0 {
            notes.push(format!("{} more lines are damaged", damage.more));
        }
        if let Some(bytes) = reader.torn() {
            notes.push(format!(
                "The last line of the record is incomplete ({bytes} bytes), as after a crash."
            ));
        }
        notes.extend(budget.notes());

        Ok(Self {
            header: reader.header().clone(),
            lines: budget.into_lines(),
            notes,
        })
    }

    /// Returns the header of the record.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Returns what the page doesn't show, in sentences: damaged lines, texts that were shortened,
    /// and events that were left out.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Writes the page as HTML in UTF-8.
    ///
    /// # Errors
    ///
    /// Returns the error of the target.
    pub fn write(&self, target: impl Write) -> io::Result<()> {
        let record = encode::record(&self.header, &self.notes, &self.lines)?;
        html::write(&self.header, &record, target)
    }
}

/// The lines that couldn't be read.
#[derive(Debug, Default)]
struct Damage {
    notes: Vec<String>,
    more: u64,
}

/// How many damaged lines are listed.
const MOST_LISTED: usize = 5;

impl Damage {
    /// Notes an error of one line, and returns any other.
    fn add(&mut self, error: RecordError) -> Result<(), RecordError> {
        if !error.is_of_line() {
            return Err(error);
        }

        if self.notes.len() < MOST_LISTED {
            self.notes.push(format!("Not shown: {error}"));
        } else {
            self.more += 1;
        }
        Ok(())
    }
}
