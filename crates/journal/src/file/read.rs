//! Reading the file of a run. Nothing here writes.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use cogwork_flow::Entry;

use crate::StoreError;
use crate::error::Kind;
use crate::header::Header;
use crate::line::Chain;

/// The lines of a file, one after the other, each checked.
pub(super) struct Lines<'a> {
    path: &'a Path,
    reader: BufReader<&'a File>,
    max_line: usize,
    line: Vec<u8>,
    number: u64,
    chain: Chain,
    whole: u64,
}

impl<'a> Lines<'a> {
    pub(super) fn of(path: &'a Path, file: &'a File, max_line: usize) -> Self {
        let (chain, reader) = (Chain::default(), BufReader::with_capacity(64 << 10, file));
        Self { path, reader, max_line, line: Vec::new(), number: 0, chain, whole: 0 }
    }

    /// The first line.
    pub(super) fn header(&mut self) -> Result<Header, StoreError> {
        if !self.read()? {
            return Err(self.wrong("the first line is not whole: no run is on record here"));
        }
        self.chain.header(&mut self.line).map_err(|problem| self.wrong(problem))
    }

    /// The next entry; `None` at the end, or where the last line is not whole.
    pub(super) fn entry(&mut self) -> Result<Option<Entry>, StoreError> {
        if !self.read()? {
            return Ok(None);
        }
        self.chain.entry(&mut self.line).map(Some).map_err(|problem| self.wrong(problem))
    }

    /// The length of the whole lines read so far, and the checksums to go on with.
    pub(super) fn end(&self) -> (u64, Chain) {
        (self.whole, self.chain)
    }

    /// Reads a line, without the newline that ends it. Answers whether there is a whole one.
    fn read(&mut self) -> Result<bool, StoreError> {
        self.line.clear();
        self.number += 1;
        let at_most = u64::try_from(self.max_line).unwrap_or(u64::MAX).saturating_add(1);
        let mut reader = self.reader.by_ref().take(at_most);
        let length =
            reader.read_until(b'\n', &mut self.line).map_err(|error| cannot_read(self.path, error))?;
        if self.line.last() == Some(&b'\n') {
            self.line.pop();
            self.whole += u64::try_from(length).unwrap_or(u64::MAX);
            return Ok(true);
        }
        if length > self.max_line {
            let max_line = self.max_line;
            let problem = format!(
                "the line is longer than {max_line} bytes; `max_line` of the store sets how long one may be"
            );
            return Err(self.problem(Kind::TooLarge, problem));
        }
        Ok(false)
    }

    fn wrong(&self, problem: impl std::fmt::Display) -> StoreError {
        self.problem(Kind::Damaged, problem)
    }

    fn problem(&self, kind: Kind, problem: impl std::fmt::Display) -> StoreError {
        let (path, number) = (self.path.display(), self.number);
        StoreError::line(kind, format_args!("{path}, line {number}: {problem}"), number, &self.line)
    }
}

pub(super) fn cannot_read(path: &Path, error: std::io::Error) -> StoreError {
    StoreError::io(format_args!("{}: cannot be read", path.display()), error)
}
