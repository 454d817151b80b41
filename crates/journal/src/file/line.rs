//! Lines with checksums.

use crc32fast::Hasher;
use serde::Serialize;

/// The checksums of a file's lines, each over the digits of the one before and over its own line up
/// to the field that holds it: a line that was edited, taken away or put elsewhere breaks the chain.
#[derive(Clone, Copy, Default)]
pub(super) struct Chain {
    before: Option<u32>,
}

/// `,"crc":"0a1b2c3d"}`
const FIELD: &[u8] = b",\"crc\":\"";
const DIGITS: usize = 8;
const END: &[u8] = b"\"}";

impl Chain {
    /// Writes a line that is an object, its checksum as the last field. Answers its length.
    pub(super) fn append(
        &mut self,
        lines: &mut Vec<u8>,
        object: &impl Serialize,
    ) -> Result<usize, serde_json::Error> {
        let start = lines.len();
        serde_json::to_writer(&mut *lines, object)?;
        lines.pop(); // the closing brace
        let checksum = self.next(lines.get(start..).unwrap_or_default());
        lines.extend_from_slice(FIELD);
        lines.extend_from_slice(checksum.as_bytes());
        lines.extend_from_slice(END);
        lines.push(b'\n');
        Ok(lines.len() - start)
    }

    /// Takes the checksum from a line, which then is the object as it was.
    pub(super) fn check(&mut self, line: &mut Vec<u8>) -> Result<(), String> {
        let Some(content) = line.len().checked_sub(FIELD.len() + DIGITS + END.len()) else {
            return Err(NO_CHECKSUM.to_owned());
        };
        let (object, field) = line.split_at(content);
        let digits = field.strip_prefix(FIELD).and_then(|field| field.strip_suffix(END));
        let Some(digits) = digits else { return Err(NO_CHECKSUM.to_owned()) };
        let expected = self.next(object);
        if digits != expected.as_bytes() {
            return Err(format!(
                "the line is not the one that was written here: its checksum would be `{expected}`, not `{}`",
                digits.escape_ascii()
            ));
        }
        line.truncate(content);
        line.push(b'}');
        Ok(())
    }

    /// The checksum of the next line.
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

const NO_CHECKSUM: &str = "the line does not end with a checksum, as in `,\"crc\":\"0a1b2c3d\"}`";
