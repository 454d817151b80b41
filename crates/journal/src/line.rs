//! Lines of files, each with a checksum: `0a1b2c3d {…}`.

use std::fmt::Display;
use std::io::Write as _;

use cogwork_flow::journal::{Entry, EntryError, Recorded};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::StoreError;
use crate::error::Kind;
use crate::header::{FORMAT, Header};

/// The start of the JSON of every first line. The version of the format follows.
const START: &str = "{\"cogwork_journal\":";

/// The length of a checksum in hexadecimal digits.
const DIGITS: usize = 8;

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

impl Joins {
    /// What separates the checksum from the JSON.
    fn separator(self) -> u8 {
        match self {
            Self::Nothing => b' ',
            Self::TheLineBefore => b'+',
        }
    }
}

/// Appends a value as a line of at most `max_line` bytes. A longer line is an error, since it could not
/// be read again.
pub(crate) fn append(
    lines: &mut Vec<u8>,
    value: &impl Serialize,
    joins: Joins,
    max_line: usize,
    place: impl Display,
) -> Result<(), StoreError> {
    let failed = |error| StoreError::io(format_args!("{place}: cannot be written"), error);
    let mut rest = vec![joins.separator()];
    serde_json::to_writer(&mut rest, value).map_err(|error| failed(error.into()))?;

    let length = DIGITS + rest.len() + 1;
    if length > max_line {
        let problem = too_long(format_args!("a line of {length} bytes"), max_line);
        return Err(StoreError::new(
            Kind::TooLarge,
            format_args!("{place}: {problem}"),
        ));
    }

    write!(lines, "{:0DIGITS$x}", crc32fast::hash(&rest)).map_err(failed)?;
    lines.append(&mut rest);
    lines.push(b'\n');
    Ok(())
}

/// Reads the first line.
pub(crate) fn read_header(line: &[u8]) -> Result<Header, String> {
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

    parse(checked(line)?)
}

/// Reads any other line.
pub(crate) fn read_entry(line: &[u8]) -> Result<Line, String> {
    let (at, entry) = parse(checked(line)?)?;
    Ok(Line { entry, at })
}

/// Returns whether all lines before this one were on disk when it was written.
pub(crate) fn starts_a_write(line: &[u8]) -> bool {
    // A line that isn't whole was written together with the previous one, or not completely.
    line.get(DIGITS) == Some(&Joins::Nothing.separator()) && checked(line).is_ok()
}

/// Returns the JSON of a line after comparing its checksum.
fn checked(line: &[u8]) -> Result<&[u8], String> {
    let missing = || "the line does not begin with a checksum, as in `0a1b2c3d […]`".to_owned();
    let (digits, rest) = line.split_at_checked(DIGITS).ok_or_else(missing)?;
    let is_hexadecimal = digits.iter().all(u8::is_ascii_hexdigit);
    if !is_hexadecimal {
        return Err(missing());
    }

    let expected = format!("{:0DIGITS$x}", crc32fast::hash(rest));
    if digits == expected.as_bytes() {
        return rest.get(1..).ok_or_else(missing);
    }

    let digits = digits.escape_ascii();
    Err(format!(
        "the line was changed: expected the checksum `{expected}`, not `{digits}`"
    ))
}

fn parse<T: DeserializeOwned>(json: &[u8]) -> Result<T, String> {
    serde_json::from_slice(json)
        .map_err(|error| format!("the line isn't one of a journal: {error}"))
}

/// Describes a line that is longer than the store allows.
pub(crate) fn too_long(line: impl Display, max_line: usize) -> String {
    format!("{line} is longer than {max_line} bytes; `with_max_line` raises the limit of the store")
}
