//! Reads the file of a run without locking it.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::ops::Range;
use std::path::Path;

use cogwork_text::files::Access;

use super::Files;
use crate::error::Kind;
use crate::header::Header;
use crate::keep::{RecordedRun, Wanted};
use crate::line::{Line, read_entry, read_header, starts_a_write, too_long};
use crate::{RecordedEntry, StoreError};

impl Files {
    /// Returns `None` if the run doesn't exist.
    pub(super) fn read_entries(
        &self,
        range: Range<u64>,
    ) -> Result<Option<Vec<RecordedEntry>>, StoreError> {
        let Some(file) = self.open_to_read()? else {
            return Ok(None);
        };

        let mut lines = Lines::of(&self.path, &file, self.max_line);
        self.read_header(&mut lines, &Wanted::Answerable)?;

        let mut entries = Vec::new();
        for index in 0..range.end {
            let Some(line) = lines.entry()? else {
                break;
            };
            if index >= range.start {
                entries.push(RecordedEntry::new(index, line));
            }
        }

        Ok(Some(entries))
    }

    /// Returns `None` if the run doesn't exist.
    pub(super) fn read_record(&self, wanted: &Wanted) -> Result<Option<RecordedRun>, StoreError> {
        let Some(file) = self.open_to_read()? else {
            return Ok(None);
        };

        let mut lines = Lines::of(&self.path, &file, self.max_line);
        let header = self.read_header(&mut lines, wanted)?;
        Ok(Some(RecordedRun {
            header,
            lines: lines.rest()?,
        }))
    }

    fn open_to_read(&self) -> Result<Option<File>, StoreError> {
        let Some(folder) = self.location.open()? else {
            return Ok(None);
        };

        match folder.open_file(&self.lines, Access::Read) {
            Ok(file) => Ok(Some(file)),
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(cannot_read(&self.path, error.into())),
        }
    }

    /// Reads the first line, and checks that it belongs to the run.
    pub(super) fn read_header(
        &self,
        lines: &mut Lines<'_>,
        wanted: &Wanted,
    ) -> Result<Header, StoreError> {
        let header = lines.header()?;
        let first_line = format!("{}, line 1", self.path.display());
        wanted.check_header(&first_line, &self.run_id, &header)?;
        Ok(header)
    }
}

/// An iterator over the checked lines of a file.
pub(super) struct Lines<'a> {
    path: &'a Path,
    file: BufReader<&'a File>,
    /// The current line, without its newline.
    line: Vec<u8>,
    max_line: usize,
    number: u64,
    /// The total length of the lines that were checked…
    whole: u64,
    /// …and of all lines that were read.
    read: u64,
}

/// How much of a file is read at once, in bytes.
const BUFFERED: usize = 1 << 16;

/// The smallest unit that a disk writes, in bytes. A block that wasn't written reads as zeros.
const BLOCK: usize = 512;

impl<'a> Lines<'a> {
    pub(super) fn of(path: &'a Path, file: &'a File, max_line: usize) -> Self {
        Self {
            path,
            file: BufReader::with_capacity(BUFFERED, file),
            line: Vec::new(),
            max_line,
            number: 0,
            whole: 0,
            read: 0,
        }
    }

    /// Reads the first line.
    pub(super) fn header(&mut self) -> Result<Header, StoreError> {
        if !self.read()? {
            return Err(self.wrong("the first line is incomplete; no run is recorded here"));
        }

        let header = read_header(&self.line).map_err(|problem| self.wrong(problem))?;
        self.whole = self.read;
        Ok(header)
    }

    /// Reads the next entry. Returns `None` at the end of the file, or if the rest was written only
    /// partly.
    pub(super) fn entry(&mut self) -> Result<Option<Line>, StoreError> {
        if !self.read()? {
            return Ok(None);
        }

        match read_entry(&self.line) {
            Ok(entry) => {
                self.whole = self.read;
                Ok(Some(entry))
            }
            Err(problem) => {
                let damaged = self.wrong(problem);
                if self.is_torn()? {
                    Ok(None)
                } else {
                    Err(damaged)
                }
            }
        }
    }

    /// Reads all further entries.
    pub(super) fn rest(&mut self) -> Result<Vec<Line>, StoreError> {
        let mut lines = Vec::new();
        while let Some(line) = self.entry()? {
            lines.push(line);
        }

        Ok(lines)
    }

    /// Returns whether a power cut interrupted the write of this line and those after it, so that
    /// some of its blocks aren't on disk.
    fn is_torn(&mut self) -> Result<bool, StoreError> {
        if !has_unwritten_block(self.whole, &self.line) {
            return Ok(false);
        }

        while self.read()? {
            // When that line was written, everything before it was on disk.
            if starts_a_write(&self.line) {
                return Ok(false);
            }
        }

        Ok(true)
    }

    /// Returns the length of the checked lines. Afterwards, nobody else changes the position in the
    /// file.
    pub(super) fn finish(self) -> u64 {
        self.whole
    }

    /// Reads a line. Returns whether there is a complete one.
    fn read(&mut self) -> Result<bool, StoreError> {
        self.number += 1;
        let is_complete = self
            .read_line()
            .map_err(|error| cannot_read(self.path, error))?;

        // Only the beginning of a line that is too long was read.
        if self.line.len() > self.max_line {
            return Err(self.problem(Kind::TooLarge, too_long("the line", self.max_line)));
        }

        if is_complete {
            self.read += self.line.len() as u64 + 1;
        }
        Ok(is_complete)
    }

    /// Reads at most one byte more than a line may have. Returns whether the line has a newline.
    fn read_line(&mut self) -> io::Result<bool> {
        self.line.clear();
        let most = (self.max_line as u64).saturating_add(1);
        (&mut self.file)
            .take(most)
            .read_until(b'\n', &mut self.line)?;

        let is_complete = self.line.pop_if(|last| *last == b'\n').is_some();
        Ok(is_complete)
    }

    fn wrong(&self, problem: impl std::fmt::Display) -> StoreError {
        self.problem(Kind::Damaged, problem)
    }

    fn problem(&self, kind: Kind, problem: impl std::fmt::Display) -> StoreError {
        let path = self.path.display();
        let number = self.number;
        StoreError::line(
            kind,
            format_args!("{path}, line {number}: {problem}"),
            number,
            &self.line,
        )
    }
}

/// Returns whether a line, which starts at `start` in its file, contains a block of zeros, or
/// starts with zeros up to the end of a block.
fn has_unwritten_block(start: u64, line: &[u8]) -> bool {
    let into_block = usize::try_from(start % BLOCK as u64).unwrap_or_default();
    let Some((first, rest)) = line.split_at_checked(BLOCK - into_block) else {
        return false;
    };

    let is_unwritten = |block: &[u8]| block.iter().all(|byte| *byte == 0);
    is_unwritten(first) || rest.chunks_exact(BLOCK).any(is_unwritten)
}

pub(super) fn cannot_read(path: &Path, error: io::Error) -> StoreError {
    StoreError::io(format_args!("{}: cannot be read", path.display()), error)
}
