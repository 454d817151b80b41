//! The record as the page contains it: JSON in a script element.

use std::fmt::Write as _;
use std::io::{self, Write};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use cogwork_text::is_unsafe;
use flate2::Compression;
use flate2::write::DeflateEncoder;

use crate::Header;

/// Events of more bytes are compressed. Those of smaller records can be read in the source of the
/// page.
const LARGEST_PLAIN: usize = 128 * 1024;

/// Returns the record as JSON that cannot end the element around it.
pub(super) fn record(header: &Header, lines: &[String]) -> io::Result<String> {
    let header = serde_json::to_string(header)?;
    let bytes: usize = lines.iter().map(String::len).sum();

    let json = if bytes > LARGEST_PLAIN {
        let packed = pack(lines)?;
        format!("{{\"header\":{header},\"packed\":\"{packed}\"}}")
    } else {
        // One event a line, for people who read the source.
        let events = lines.join(",\n");
        format!("{{\"header\":{header},\"events\":[\n{events}\n]}}")
    };

    Ok(escape(&json))
}

/// Compresses lines, and writes them in Base64.
fn pack(lines: &[String]) -> io::Result<String> {
    // A page is written once, so its size counts more than the time.
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
    for line in lines {
        encoder.write_all(line.as_bytes())?;
        encoder.write_all(b"\n")?;
    }

    Ok(STANDARD.encode(encoder.finish()?))
}

/// Escapes the characters that mean something to HTML, and those that would make the source of the
/// page misleading. In JSON, they only occur in strings, in contrast to white space.
fn escape(json: &str) -> String {
    let mut escaped = String::with_capacity(json.len());
    for character in json.chars() {
        let is_markup = matches!(character, '<' | '>' | '&');
        let is_hidden = is_unsafe(character) && !matches!(character, '\n' | '\r' | '\t');

        if is_markup || is_hidden {
            push_escape(&mut escaped, character);
        } else {
            escaped.push(character);
        }
    }

    escaped
}

fn push_escape(text: &mut String, character: char) {
    // JSON escapes a character above U+FFFF as two units.
    for unit in character.encode_utf16(&mut [0; 2]) {
        let _ = write!(text, "\\u{unit:04x}");
    }
}
