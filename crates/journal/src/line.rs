//! Lines with checksums.

use std::fmt::Display;
use std::ops::Range;
use std::sync::Arc;

use cogwork_flow::journal::{Entry, Json};
use crc32fast::Hasher;
use memchr::memchr;
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
    /// Milliseconds since 1970; `None` if an earlier version recorded the entry.
    pub(crate) at: Option<u64>,
}

/// The text of a line, without its newline.
#[derive(Clone, Copy)]
pub(crate) enum Text<'a> {
    Bytes(&'a [u8]),
    /// A line at a position in a larger text, which outcomes share instead of copying it.
    In(&'a Arc<String>, &'a Range<usize>),
}

impl<'a> Text<'a> {
    pub(crate) fn bytes(self) -> &'a [u8] {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::In(text, line) => text.as_bytes().get(line.clone()).unwrap_or_default(),
        }
    }

    /// Returns a part of the line as a value.
    fn json(self, part: Range<usize>) -> Option<Json> {
        match self {
            Self::Bytes(bytes) => {
                let part = std::str::from_utf8(bytes.get(part)?).ok()?;
                Some(Json::from_record(part))
            }
            Self::In(text, line) => {
                Json::part_of_record(text, line.start + part.start..line.start + part.end)
            }
        }
    }
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
        lines.extend_from_slice(&checksum);
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
    pub(crate) fn entry(&mut self, line: Text<'_>) -> Result<Line, String> {
        let Checked { object, at } = self.check(line.bytes())?;
        let entry = match outcome(object, line) {
            Some(entry) => entry,
            None => parse(object)?,
        };
        Ok(Line { entry, at })
    }

    /// Returns the chain after this line, which is not checked.
    #[cfg(any(feature = "sqlite", feature = "postgres"))]
    pub(crate) fn after(line: &[u8]) -> Result<Self, String> {
        let digits = split(line).and_then(|(_, digits)| std::str::from_utf8(digits).ok());
        let before = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
        let before = before.ok_or(NO_CHECKSUM)?;
        Ok(Self {
            before: Some(before),
        })
    }

    /// Checks the checksum of a line.
    fn check<'a>(&mut self, line: &'a [u8]) -> Result<Checked<'a>, String> {
        let Some((object, digits)) = split(line) else {
            return Err(NO_CHECKSUM.to_owned());
        };

        let expected = self.next(object);
        if digits != expected {
            let expected = expected.escape_ascii();
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
    fn next(&mut self, object: &[u8]) -> [u8; DIGITS] {
        let mut hasher = Hasher::new();
        if let Some(before) = self.before {
            hasher.update(&hexadecimal(before));
        }

        hasher.update(object);
        let checksum = hasher.finalize();
        self.before = Some(checksum);

        hexadecimal(checksum)
    }
}

fn hexadecimal(checksum: u32) -> [u8; DIGITS] {
    let mut digits = [b'0'; DIGITS];
    for (digit, nibble) in digits.iter_mut().rev().zip(0..) {
        let value = (checksum >> (4 * nibble)) & 0xf;
        *digit = b"0123456789abcdef"
            .get(value as usize)
            .copied()
            .unwrap_or_default();
    }

    digits
}

/// A line whose checksum is right, without its checksum and marks.
struct Checked<'a> {
    /// The object of the line, without its closing brace.
    object: &'a [u8],
    at: Option<u64>,
}

/// Reads the object of an outcome, as it is always written. The outcome, which may be long, is only
/// parsed when it is used. Returns `None` for any other object. `line` begins with the object.
fn outcome(object: &[u8], line: Text<'_>) -> Option<Entry> {
    const STEP: &[u8] = b"{\"outcome\":{\"step\":\"";
    const OUTCOME: &[u8] = b"\",\"outcome\":";

    let rest = object.strip_prefix(STEP)?;
    let (step, rest) = rest.split_at_checked(memchr(b'"', rest)?)?;
    let outcome = rest.strip_prefix(OUTCOME)?.strip_suffix(b"}")?;

    let is_plain = |byte: &u8| *byte >= b' ' && *byte != b'\\';
    if outcome.is_empty() || !step.iter().all(is_plain) {
        return None;
    }

    let start = STEP.len() + step.len() + OUTCOME.len();
    Some(Entry::Outcome {
        step: std::str::from_utf8(step).ok()?.to_owned(),
        outcome: line.json(start..start + outcome.len())?,
    })
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
