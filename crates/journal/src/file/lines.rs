//! Lines of files, each with a checksum: `0a1b2c3d {…}` for the header, and `0a1b2c3d [time,{…}]` for
//! an entry.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Write as _};
use std::path::Path;

use crate::StoreError;
use crate::backend::TextLine;
use crate::error::Kind;
use crate::header::{FORMAT, Header};
use crate::time::now;

/// The start of the JSON of every first line. The version of the format follows.
const START: &str = "{\"cogwork_journal\":";

/// The length of a checksum in hexadecimal digits.
const DIGITS: usize = 8;

/// How a line is written to disk.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Joins {
    /// After all earlier lines were synced.
    Nothing,
    /// Together with the previous line. After a power cut, it may be on disk without that line.
    TheLineBefore,
}

impl Joins {
    /// What separates the checksum from the JSON.
    fn separator(self) -> char {
        match self {
            Self::Nothing => ' ',
            Self::TheLineBefore => '+',
        }
    }
}

/// Appends a line to those that are written.
pub(super) fn append(lines: &mut Vec<u8>, line: &TextLine, joins: Joins) {
    let TextLine { text, at } = line;
    let separator = joins.separator();
    let rest = if text.starts_with(START) {
        format!("{separator}{text}")
    } else {
        format!("{separator}[{},{text}]", at.unwrap_or_else(now))
    };

    // Writing to a `Vec` cannot fail.
    let _ = writeln!(
        lines,
        "{:0DIGITS$x}{rest}",
        crc32fast::hash(rest.as_bytes())
    );
}

/// Reads the lines of a file, up to the first that was written only partly.
pub(super) struct ReadLines<'a> {
    path: &'a Path,
    file: BufReader<&'a File>,
    /// The current line, without its newline.
    line: Vec<u8>,
    number: u64,
    /// The total length of the lines that were checked…
    whole: u64,
    /// …and of all lines that were read.
    read: u64,
}

impl<'a> ReadLines<'a> {
    pub(super) fn of(path: &'a Path, file: &'a File) -> Self {
        Self {
            path,
            file: BufReader::with_capacity(1 << 16, file),
            line: Vec::new(),
            number: 0,
            whole: 0,
            read: 0,
        }
    }

    /// Returns the length of the lines that were checked.
    pub(super) fn whole(&self) -> u64 {
        self.whole
    }

    /// Reads the first line as a header, whatever run it belongs to.
    pub(super) fn header(&mut self) -> Result<Header, StoreError> {
        let line = self.next_line()?;
        let text = line.map(|line| line.text).unwrap_or_default();
        let header = serde_json::from_str(&text);
        header.map_err(|error| self.damaged(&format!("the line isn't one of a journal: {error}")))
    }

    /// Reads the next line. Returns `None` at the end of the file, or if the rest was written only
    /// partly.
    pub(super) fn next_line(&mut self) -> Result<Option<TextLine>, StoreError> {
        let is_complete = self.read()?;
        let checked = if self.number > 1 {
            if !is_complete {
                return Ok(None);
            }
            checked(&self.line)
        } else if is_complete {
            is_header(&self.line).and_then(|()| checked(&self.line))
        } else {
            Err("the first line is incomplete; no run is recorded here".to_owned())
        };

        match checked.and_then(entry) {
            Ok(line) => {
                self.whole = self.read;
                Ok(Some(line))
            }
            Err(problem) => {
                let damaged = self.damaged(&problem);
                if self.number > 1 && self.is_torn()? {
                    return Ok(None);
                }
                Err(damaged)
            }
        }
    }

    /// Returns whether a power cut interrupted the write of this line and those after it. What wasn't
    /// written then reads as zeros, which no line contains.
    fn is_torn(&mut self) -> Result<bool, StoreError> {
        if !self.line.contains(&0) {
            return Ok(false);
        }

        while self.read()? {
            // When that line was written, everything before it was on disk.
            let starts_a_write = self.line.get(DIGITS) == Some(&b' ');
            if starts_a_write && checked(&self.line).is_ok() {
                return Ok(false);
            }
        }

        Ok(true)
    }

    /// Reads a line. Returns whether there is a complete one.
    fn read(&mut self) -> Result<bool, StoreError> {
        self.number += 1;
        self.line.clear();
        let read = self.file.read_until(b'\n', &mut self.line);
        self.read += read.map_err(|error: io::Error| {
            let path = self.path.display();
            StoreError::io(format_args!("{path}: cannot be read"), error)
        })? as u64;

        Ok(self.line.pop_if(|last| *last == b'\n').is_some())
    }

    fn damaged(&self, problem: &str) -> StoreError {
        let number = self.number;
        let text = format_args!("{}, line {number}: {problem}", self.path.display());
        StoreError::line(Kind::Damaged, text, number, &self.line)
    }
}

/// Checks that a line is the first one of a record in a format that is known.
fn is_header(line: &[u8]) -> Result<(), String> {
    let json = line.get(DIGITS + 1..).unwrap_or_default();
    let Some(rest) = json.strip_prefix(START.as_bytes()) else {
        return Err(format!(
            "this isn't the journal of a run; expected a line such as `0a1b2c3d {START}{FORMAT},`"
        ));
    };

    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit());
    let digits: String = digits.map(|byte| char::from(*byte)).collect();
    if digits != FORMAT.to_string() {
        return Err(format!(
            "this is a journal of format {digits:.20}; expected format {FORMAT}"
        ));
    }
    Ok(())
}

/// Returns the JSON of a line after comparing its checksum.
fn checked(line: &[u8]) -> Result<&str, String> {
    let missing = || "the line does not begin with a checksum, as in `0a1b2c3d […]`".to_owned();
    let (digits, rest) = line.split_at_checked(DIGITS).ok_or_else(missing)?;
    let is_hexadecimal = digits.iter().all(u8::is_ascii_hexdigit);
    if !is_hexadecimal {
        return Err(missing());
    }

    let expected = format!("{:0DIGITS$x}", crc32fast::hash(rest));
    if digits != expected.as_bytes() {
        let digits = digits.escape_ascii();
        return Err(format!(
            "the line was changed: expected the checksum `{expected}`, not `{digits}`"
        ));
    }

    let json = rest.get(1..).ok_or_else(missing)?;
    str::from_utf8(json).map_err(|error| format!("the line isn't one of a journal: {error}"))
}

/// Separates an entry from its time.
fn entry(json: &str) -> Result<TextLine, String> {
    let Some(timed) = json.strip_prefix('[') else {
        let text = json.to_owned();
        return Ok(TextLine { text, at: None });
    };

    let parts = timed
        .strip_suffix(']')
        .and_then(|timed| timed.split_once(','));
    let line = parts.and_then(|(at, text)| {
        Some(TextLine {
            text: text.to_owned(),
            at: Some(at.parse().ok()?),
        })
    });
    line.ok_or_else(|| {
        "the line isn't one of a journal: expected a time and an entry, as in `[0,{…}]`".to_owned()
    })
}
