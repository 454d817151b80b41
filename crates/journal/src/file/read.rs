//! Reads the file of a run, without writing.

use std::fs::File;
use std::path::Path;

use super::parts::{Found, Parts};
use crate::StoreError;
use crate::error::Kind;
use crate::header::Header;
use crate::line::{Chain, Line, starts_a_write, too_long};

/// An iterator over the checked lines of a file.
pub(super) struct Lines<'a> {
    path: &'a Path,
    parts: Parts<'a>,
    max_line: usize,
    number: u64,
    chain: Chain,
    /// The total length of the lines that were checked…
    whole: u64,
    /// …and of all lines that were read.
    read: u64,
}

/// The smallest unit that a disk writes, in bytes. A block that wasn't written reads as zeros.
const BLOCK: usize = 512;

impl<'a> Lines<'a> {
    pub(super) fn of(path: &'a Path, file: &'a File, max_line: usize) -> Self {
        Self {
            path,
            parts: Parts::of(file, max_line),
            max_line,
            number: 0,
            chain: Chain::default(),
            whole: 0,
            read: 0,
        }
    }

    /// Reads the first line.
    pub(super) fn header(&mut self) -> Result<Header, StoreError> {
        if !self.read()? {
            return Err(self.wrong("the first line is incomplete; no run is recorded here"));
        }

        let header = self
            .chain
            .header(self.parts.line().bytes())
            .map_err(|problem| self.wrong(problem))?;
        self.whole = self.read;
        Ok(header)
    }

    /// Reads the next entry. Returns `None` at the end of the file, or if the rest was written only
    /// partly.
    pub(super) fn entry(&mut self) -> Result<Option<Line>, StoreError> {
        if !self.read()? {
            return Ok(None);
        }

        let before = self.chain;
        match self.chain.entry(self.parts.line()) {
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

    /// Returns whether a power cut interrupted the write of this line and those after it, so that
    /// some of its blocks aren't on disk.
    fn is_torn(&mut self) -> Result<bool, StoreError> {
        if !has_unwritten_block(self.whole, self.parts.line().bytes()) {
            return Ok(false);
        }

        while self.read()? {
            // When that line was written, everything before it was on disk.
            if starts_a_write(self.parts.line().bytes()) {
                return Ok(false);
            }
        }

        Ok(true)
    }

    /// Returns the length of the checked lines, and the chain of their checksums. Afterwards, nobody
    /// else changes the position in the file.
    pub(super) fn finish(self) -> (u64, Chain) {
        (self.whole, self.chain)
    }

    /// Reads a line. Returns whether there is a complete one.
    fn read(&mut self) -> Result<bool, StoreError> {
        self.number += 1;
        let found = self.parts.advance();

        match found.map_err(|error| cannot_read(self.path, error))? {
            Found::Complete => {
                let length = self.parts.line().bytes().len() + 1;
                self.read += u64::try_from(length).unwrap_or(u64::MAX);
                Ok(true)
            }
            Found::Incomplete => Ok(false),
            Found::TooLong => {
                Err(self.problem(Kind::TooLarge, too_long("the line", self.max_line)))
            }
        }
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
            self.parts.line().bytes(),
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

pub(super) fn cannot_read(path: &Path, error: std::io::Error) -> StoreError {
    StoreError::io(format_args!("{}: cannot be read", path.display()), error)
}
