//! Lines with checksums.

use std::fmt::Display;

use cogwork_flow::journal::Entry;
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

impl Chain {
    /// Writes an object as a line of at most `max_line` bytes, with its checksum as the last field.
    /// A longer line is an error, since it could not be read again.
    pub(crate) fn append(
        &mut self,
        lines: &mut Vec<u8>,
        object: &impl Serialize,
        joins: Joins,
        max_line: usize,
        place: impl Display,
    ) -> Result<(), StoreError> {
        let start = lines.len();
        serde_json::to_writer(&mut *lines, object).map_err(|error| {
            StoreError::io(format_args!("{place}: cannot be written"), error.into())
        })?;
        lines.pop(); // the closing brace

        if joins == Joins::TheLineBefore {
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
    pub(crate) fn header(&mut self, line: &mut Vec<u8>) -> Result<Header, String> {
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

        self.read(line)
    }

    /// Reads any other line.
    pub(crate) fn entry(&mut self, line: &mut Vec<u8>) -> Result<Entry, String> {
        self.read(line)
    }

    fn read<T: DeserializeOwned>(&mut self, line: &mut Vec<u8>) -> Result<T, String> {
        self.check(line)?;
        serde_json::from_slice(line)
            .map_err(|error| format!("the line isn't one of a journal: {error}"))
    }

    /// Checks and removes the checksum of a line.
    fn check(&mut self, line: &mut Vec<u8>) -> Result<(), String> {
        let Some((object, digits)) = split(line) else {
            return Err(NO_CHECKSUM.to_owned());
        };

        let expected = self.next(object);
        if digits != expected.as_bytes() {
            return Err(format!(
                "the line was changed or moved: expected the checksum `{expected}`, not `{}`",
                digits.escape_ascii()
            ));
        }

        let object = object.strip_suffix(JOINED).unwrap_or(object).len();
        line.truncate(object);
        line.push(b'}');

        Ok(())
    }

    /// Returns the checksum of the next line.
    fn next(&mut self, object: &[u8]) -> String {
        let mut hasher = Hasher::new();
        if let Some(before) = self.before {
            hasher.update(format!("{before:08x}").as_bytes());
        }

        hasher.update(object);
        let checksum = hasher.finalize();
        self.before = Some(checksum);

        format!("{checksum:08x}")
    }
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
    split(line).is_some_and(|(object, _)| object.ends_with(b"}"))
}

const NO_CHECKSUM: &str = "the line does not end with a checksum, as in `,\"crc\":\"0a1b2c3d\"}`";
