//! Reading the file of a run. Nothing here writes.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use cogwork_flow::journal::Entry;

use crate::StoreError;
use crate::error::Kind;
use crate::header::Header;
use crate::line::{Chain, starts_a_write, too_long};

/// The lines of a file, one after the other, each checked.
pub(super) struct Lines<'a> {
    path: &'a Path,
    reader: BufReader<&'a File>,
    max_line: usize,
    line: Vec<u8>,
    number: u64,
    chain: Chain,
    /// The length of the lines that are known to be as they were written…
    whole: u64,
    /// …and of all lines that were read.
    read: u64,
}

/// The least that a disk writes as a whole, in bytes. What of it was not written is read as zeros.
const BLOCK: usize = 512;

impl<'a> Lines<'a> {
    pub(super) fn of(path: &'a Path, file: &'a File, max_line: usize) -> Self {
        let chain = Chain::default();
        let reader = BufReader::with_capacity(64 << 10, file);
        Self {
            path,
            reader,
            max_line,
            line: Vec::new(),
            number: 0,
            chain,
            whole: 0,
            read: 0,
        }
    }

    /// The first line.
    pub(super) fn header(&mut self) -> Result<Header, StoreError> {
        if !self.read()? {
            return Err(self.wrong("the first line is not whole: no run is on record here"));
        }

        let header = self
            .chain
            .header(&mut self.line)
            .map_err(|problem| self.wrong(problem))?;
        self.whole = self.read;
        Ok(header)
    }

    /// The next entry; `None` at the end, or where what follows was not written to the end.
    pub(super) fn entry(&mut self) -> Result<Option<Entry>, StoreError> {
        if !self.read()? {
            return Ok(None);
        }

        let before = self.chain;
        match self.chain.entry(&mut self.line) {
            Ok(entry) => {
                self.whole = self.read;
                Ok(Some(entry))
            }
            Err(problem) => {
                self.chain = before;
                let damaged = self.wrong(problem);
                if self.is_torn()? {
                    Ok(None)
                } else {
                    Err(damaged)
                }
            }
        }
    }

    /// Whether the power was cut while the line and those behind it were written in one go: then some blocks
    /// of them may be on the disk, and others not.
    fn is_torn(&mut self) -> Result<bool, StoreError> {
        if !has_unwritten_block(self.whole, &self.line) {
            return Ok(false);
        }

        while self.read()? {
            // When that one was written, all this was on the disk.
            if starts_a_write(&self.line) {
                return Ok(false);
            }
        }

        Ok(true)
    }

    /// The length of the whole lines read so far, and the checksums to go on with.
    pub(super) fn end(&self) -> (u64, Chain) {
        (self.whole, self.chain)
    }

    /// Reads a line, without the newline that ends it. Answers whether there is a whole one.
    fn read(&mut self) -> Result<bool, StoreError> {
        self.line.clear();
        self.number += 1;
        let at_most = u64::try_from(self.max_line)
            .unwrap_or(u64::MAX)
            .saturating_add(1);
        let mut reader = self.reader.by_ref().take(at_most);
        let length = reader
            .read_until(b'\n', &mut self.line)
            .map_err(|error| cannot_read(self.path, error))?;

        if self.line.last() == Some(&b'\n') {
            self.line.pop();
            self.read += u64::try_from(length).unwrap_or(u64::MAX);
            return Ok(true);
        }

        if length > self.max_line {
            return Err(self.problem(Kind::TooLarge, too_long("the line", self.max_line)));
        }

        Ok(false)
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

/// Whether a line, which begins at this place of its file, has zeros from there or from where a block begins to
/// where that block ends.
fn has_unwritten_block(start: u64, line: &[u8]) -> bool {
    let into_block = usize::try_from(start % BLOCK as u64).unwrap_or_default();
    let Some((first, rest)) = line.split_at_checked(BLOCK - into_block) else {
        return false;
    };

    let is_unwritten = |block: &[u8]| block.iter().all(|byte| *byte == 0);
    is_unwritten(first) || rest.chunks_exact(BLOCK).any(is_unwritten)
}

pub(super) fn cannot_read(path: &Path, error: std::io::Error) -> StoreError {
    StoreError::io(format_args!("{}: cannot be read", path.display()), error)
}
