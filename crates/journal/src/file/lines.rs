//! Lines of files, each with a checksum: `0a1b2c3d {…}` for the header, and `0a1b2c3d [time,{…}]` for
//! an entry.

use std::io::Write as _;
use std::path::Path;

use crate::backend::TextLine;
use crate::header::{FORMAT, now};
use crate::{StoreError, StoreErrorKind};

/// The start of the JSON of every first line. The version of the format follows.
const START: &str = "{\"cogwork_journal\":";

/// The length of a checksum in hexadecimal digits.
const DIGITS: usize = 8;

/// Appends lines to those that are written. Each begins with the CRC-32 of the rest, and then has a `+`
/// if it is written together with the line before: after a power cut, it may be on disk without that.
pub(super) fn append(text: &mut Vec<u8>, lines: &[TextLine], together: bool) {
    for (index, line) in lines.iter().enumerate() {
        let separator = if together && index > 0 { '+' } else { ' ' };
        let TextLine { text: json, at } = line;
        // The header has no time, because it contains when the run was started.
        let rest = if json.starts_with(START) {
            format!("{separator}{json}")
        } else {
            // A line that was copied keeps its time.
            format!("{separator}[{},{json}]", at.unwrap_or_else(now))
        };

        // Writing to a `Vec` cannot fail.
        let _ = writeln!(text, "{:0DIGITS$x}{rest}", crc32fast::hash(rest.as_bytes()));
    }
}

/// The lines of a file.
pub(super) struct Lines {
    pub(super) lines: Vec<TextLine>,
    /// Their total length.
    pub(super) length: u64,
    /// Why the line after them isn't one. Lines that were written only partly are no damage.
    pub(super) damage: Option<StoreError>,
}

/// Reads the first lines of a file, at most so many.
pub(super) fn read(path: &Path, bytes: &[u8], most: u64) -> Lines {
    let mut read = Lines {
        lines: Vec::new(),
        length: 0,
        damage: None,
    };
    let mut rest = bytes;

    for number in 1..=most {
        let next = rest.split_inclusive(|byte| *byte == b'\n').next();
        // An empty file has a first line, too, which is incomplete.
        let line = match next {
            None if number > 1 => break,
            next => next.unwrap_or_default(),
        };
        rest = rest.get(line.len()..).unwrap_or_default();

        match parse(line, number == 1) {
            Ok(parsed) => read.lines.push(parsed),
            // A header is written and synced before its file has its name, so it is never torn.
            Err(_) if number > 1 && is_torn(line, read.length, rest) => break,
            Err(problem) => {
                let text = format_args!("{}, line {number}: {problem}", path.display());
                read.damage = Some(StoreError::new(StoreErrorKind::Damaged, text));
                break;
            }
        }
        read.length += line.len() as u64;
    }

    read
}

/// The size of the smallest part that a disk writes.
const SECTOR: usize = 512;

/// Returns whether a crash interrupted the write of the line at this offset and those after it.
fn is_torn(line: &[u8], offset: u64, rest: &[u8]) -> bool {
    if !line.ends_with(b"\n") {
        return true;
    }

    // When a line was written that isn't joined to the one before, everything before it was on disk.
    let mut later = rest.split_inclusive(|byte| *byte == b'\n');
    let starts_a_write = |line: &[u8]| line.get(DIGITS) == Some(&b' ') && checked(line).is_ok();
    lacks_sectors(line, offset) && !later.any(starts_a_write)
}

/// Returns whether sectors are missing in the line at this offset. After a power cut, each that wasn't
/// written reads as zeros, which no line contains.
fn lacks_sectors(line: &[u8], offset: u64) -> bool {
    let first = SECTOR - (offset % SECTOR as u64) as usize;
    let (first, others) = line.split_at_checked(first).unwrap_or((line, &[]));
    let sectors = others.chunks(SECTOR).chain([first]);

    let mut with_zeros = sectors.filter(|sector| sector.contains(&0)).peekable();
    // A zero among other bytes is one that was changed later.
    with_zeros.peek().is_some() && with_zeros.all(|sector| sector.iter().all(|byte| *byte == 0))
}

fn parse(line: &[u8], is_first: bool) -> Result<TextLine, String> {
    if is_first {
        is_header(line)?;
    }
    let json = checked(line)?;
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

/// Checks that a line is the first one of a record in a format that is known.
fn is_header(line: &[u8]) -> Result<(), String> {
    if !line.ends_with(b"\n") {
        return Err("the first line is incomplete; no run is recorded here".to_owned());
    }

    let json = line.get(DIGITS + 1..).unwrap_or_default();
    let Some(rest) = json.strip_prefix(START.as_bytes()) else {
        return Err(format!(
            "this isn't the journal of a run; expected a line such as `0a1b2c3d {START}{FORMAT},`"
        ));
    };

    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit());
    let digits: String = digits.map(|byte| char::from(*byte)).collect();
    if digits != FORMAT.to_string() {
        // The file may be anything, so only its first digits are shown.
        return Err(format!(
            "this is a journal of format {digits:.20}; expected format {FORMAT}"
        ));
    }
    Ok(())
}

/// Returns the JSON of a complete line after comparing its checksum.
fn checked(line: &[u8]) -> Result<&str, String> {
    let missing = || "the line does not begin with a checksum, as in `0a1b2c3d […]`".to_owned();
    let line = line.strip_suffix(b"\n").ok_or_else(missing)?;
    let (digits, rest) = line.split_at_checked(DIGITS).ok_or_else(missing)?;
    if !digits.iter().all(u8::is_ascii_hexdigit) {
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
