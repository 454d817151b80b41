//! Lines with checksums.

use std::fmt::Display;

use cogwork_flow::journal::{Entry, EntryError, Recorded};
use crc32fast::Hasher;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::StoreError;
use crate::error::Kind;
use crate::header::{FORMAT, Header};

/// The chain of checksums of a run. Each covers the digits of the previous checksum and its own
/// line, up to the field that contains it, so that editing, removing or moving a line breaks the
/// chain.
#[derive(Clone, Copy, Default)]
pub(crate) struct Chain {
    before: Option<u32>,
}

/// The start of every first line. The version of the format follows.
const START: &str = "{\"cogwork_journal\":";

/// `,"crc":"0a1b2c3d"}`
const FIELD: &[u8] = b",\"crc\":\"";
const DIGITS: usize = 8;
const END: &[u8] = b"\"}";

/// An entry, and when it was recorded.
#[derive(Debug, Clone)]
pub(crate) struct Line {
    pub(crate) entry: Entry,
    /// Milliseconds since 1970; `None` until the database sets it.
    pub(crate) at: Option<u64>,
}

/// Checks that each entry can follow the entries before it.
pub(crate) fn check_order(lines: &[Line]) -> Result<(), EntryError> {
    let entries = lines.iter().map(|line| line.entry.clone());
    Recorded::over("", entries, ()).map(drop)
}

/// How a line is written to disk.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Joins {
    /// After all earlier lines were synced.
    Nothing,
    /// Together with the previous line. After a power cut, it may be on disk without that line.
    TheLineBefore,
}

/// The mark of a line that was written together with the previous one. No other line of a journal
/// ends with it.
const JOINED: &[u8] = b",\"joined\":true";

/// The beginning of the mark with the time of a line. It is before the other one.
const AT: &[u8] = b",\"at\":";

/// What is written after an object, as further fields of it.
#[derive(Clone, Copy)]
pub(crate) struct Marks {
    /// When the entry was recorded, in milliseconds since 1970.
    pub(crate) at: Option<u64>,
    pub(crate) joins: Joins,
}

impl Marks {
    pub(crate) const NONE: Self = Self {
        at: None,
        joins: Joins::Nothing,
    };
}

impl Chain {
    /// Writes an object as a line of at most `max_line` bytes, with its checksum as the last field.
    /// A longer line is an error, since it could not be read again.
    pub(crate) fn append(
        &mut self,
        lines: &mut Vec<u8>,
        object: &impl Serialize,
        marks: Marks,
        max_line: usize,
        place: impl Display,
    ) -> Result<(), StoreError> {
        let start = lines.len();
        serde_json::to_writer(&mut *lines, object).map_err(|error| {
            StoreError::io(format_args!("{place}: cannot be written"), error.into())
        })?;
        lines.pop(); // the closing brace

        if let Some(at) = marks.at {
            lines.extend_from_slice(AT);
            lines.extend_from_slice(at.to_string().as_bytes());
        }
        if marks.joins == Joins::TheLineBefore {
            lines.extend_from_slice(JOINED);
        }

        let checksum = self.next(lines.get(start..).unwrap_or_default());
        lines.extend_from_slice(FIELD);
        lines.extend_from_slice(checksum.as_bytes());
        lines.extend_from_slice(END);
        lines.push(b'\n');

        let length = lines.len() - start;
        if length > max_line {
            let problem = too_long(format_args!("a line of {length} bytes"), max_line);
            return Err(StoreError::new(
                Kind::TooLarge,
                format_args!("{place}: {problem}"),
            ));
        }

        Ok(())
    }

    /// Reads the first line.
    pub(crate) fn header(&mut self, line: &[u8]) -> Result<Header, String> {
        let Some(rest) = line.strip_prefix(START.as_bytes()) else {
            return Err(format!(
                "this isn't the journal of a run; expected a line that starts with `{START}{FORMAT},`"
            ));
        };

        let digits: String = rest
            .iter()
            .take_while(|byte| byte.is_ascii_digit())
            .map(|b| char::from(*b))
            .collect();

        if digits != FORMAT.to_string() {
            return Err(format!(
                "this is a journal of format {digits:.20}; expected format {FORMAT}"
            ));
        }

        parse(self.check(line)?.object)
    }

    /// Reads any other line.
    pub(crate) fn entry(&mut self, line: &[u8]) -> Result<Line, String> {
        let Checked { object, at } = self.check(line)?;
        let entry = parse(object)?;
        Ok(Line { entry, at })
    }

    /// Checks the checksum of a line.
    fn check<'a>(&mut self, line: &'a [u8]) -> Result<Checked<'a>, String> {
        let Some((object, digits)) = split(line) else {
            return Err(NO_CHECKSUM.to_owned());
        };

        let expected = self.next(object);
        if digits != expected.as_bytes() {
            let digits = digits.escape_ascii();
            return Err(format!(
                "the line was changed or moved: expected the checksum `{expected}`, not `{digits}`"
            ));
        }

        let object = object.strip_suffix(JOINED).unwrap_or(object);
        Ok(match split_time(object) {
            Some((object, at)) => Checked {
                object,
                at: Some(at),
            },
            None => Checked { object, at: None },
        })
    }

    /// Returns the checksum of the next line.
    fn next(&mut self, object: &[u8]) -> String {
        let mut hasher = Hasher::new();
        if let Some(before) = self.before {
            hasher.update(hexadecimal(before).as_bytes());
        }

        hasher.update(object);
        let checksum = hasher.finalize();
        self.before = Some(checksum);

        hexadecimal(checksum)
    }
}

fn hexadecimal(checksum: u32) -> String {
    format!("{checksum:0DIGITS$x}")
}

/// A line whose checksum is right, without its checksum and marks.
struct Checked<'a> {
    /// The object of the line, without its closing brace.
    object: &'a [u8],
    at: Option<u64>,
}

/// Reads an object without its closing brace.
fn parse<T: DeserializeOwned>(object: &[u8]) -> Result<T, String> {
    let object = [object, b"}"].concat();
    serde_json::from_slice(&object)
        .map_err(|error| format!("the line isn't one of a journal: {error}"))
}

/// Splits a line without its other marks into the part before its time, and the time.
fn split_time(object: &[u8]) -> Option<(&[u8], u64)> {
    let digits = object.iter().rev().take_while(|byte| byte.is_ascii_digit());
    let (before, digits) = object.split_at_checked(object.len() - digits.count())?;
    let object = before.strip_suffix(AT)?;
    let at = std::str::from_utf8(digits).ok()?.parse().ok()?;

    // Otherwise, it is a field of the entry.
    object.ends_with(b"}").then_some((object, at))
}

/// Describes a line that is longer than the store allows.
pub(crate) fn too_long(line: impl Display, max_line: usize) -> String {
    format!("{line} is longer than {max_line} bytes; `with_max_line` raises the limit of the store")
}

/// Splits a line into the part before its checksum and the checksum. Returns `None` if it doesn't
/// end with one.
fn split(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let content = line.len().checked_sub(FIELD.len() + DIGITS + END.len())?;
    let (object, field) = line.split_at_checked(content)?;
    let digits = field.strip_prefix(FIELD)?.strip_suffix(END)?;

    Some((object, digits))
}

/// Returns whether all lines before this one were on disk when it was written.
pub(crate) fn starts_a_write(line: &[u8]) -> bool {
    // A line with a different ending was written together with the previous one, or not completely.
    split(line).is_some_and(|(object, _)| object.ends_with(b"}") || split_time(object).is_some())
}

const NO_CHECKSUM: &str = "the line does not end with a checksum, as in `,\"crc\":\"0a1b2c3d\"}`";
