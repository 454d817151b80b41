//! The events of a record, within a number of bytes.

use serde_json::{Map, Value, json};

/// The lengths to which texts are shortened, in bytes, one after the other.
const LENGTHS: [usize; 4] = [16 * 1024, 4 * 1024, 1024, 256];

/// Returns the lines of a record that fit, and what was done to them, in sentences. If they are too
/// large, long texts are shortened; if they still are, only the first and the last lines are kept.
pub(super) fn fit(mut lines: Vec<String>, max_bytes: usize) -> (Vec<String>, Vec<String>) {
    let mut notes = Vec::new();
    let mut lengths = LENGTHS.iter();
    let mut shortened = None;
    while bytes_of(&lines) > max_bytes
        && let Some(length) = lengths.next()
    {
        let count = lines.iter_mut().filter_map(|line| shorten(line, *length));
        shortened = Some((count.count(), length));
    }

    if let Some((count, length)) = shortened {
        notes.push(format!(
            "The record is too large for a page: texts of {count} events are shortened to {length} bytes."
        ));
    }
    if bytes_of(&lines) > max_bytes {
        let count = leave_out(&mut lines, max_bytes / 2);
        notes.push(format!(
            "The record is too large for a page: {count} events in the middle are left out."
        ));
    }
    (lines, notes)
}

fn bytes_of(lines: &[String]) -> usize {
    lines.iter().map(String::len).sum()
}

/// Keeps so many bytes of the first lines and of the last ones. Returns how many others there were.
fn leave_out(lines: &mut Vec<String>, half: usize) -> usize {
    let fits = |bytes: &mut usize, line: &String| {
        *bytes += line.len();
        (*bytes <= half).then_some(())
    };
    let first = lines.iter().scan(0, fits).count();
    let last = lines.iter().skip(first).rev().scan(0, fits).count();

    let left_out = first..lines.len() - last;
    let count = left_out.len();
    let gap = json!({"type": "left_out", "events": count});
    lines.splice(left_out, [gap.to_string()]);
    count
}

/// Shortens the texts of a line to this length. Returns `None` if none is longer.
fn shorten(line: &mut String, length: usize) -> Option<()> {
    if line.len() <= length {
        return None;
    }

    let mut event: Map<String, Value> = serde_json::from_str(line).ok()?;
    shorten_texts(&mut event, length).then_some(())?;
    *line = Value::Object(event).to_string();
    Some(())
}

/// Shortens a text to at most this number of bytes and an ellipsis.
fn shorten_text(text: &mut String, length: usize) {
    let mut ends = (0..=length).rev();
    let end = ends.find(|end| text.is_char_boundary(*end));

    text.truncate(end.unwrap_or(0));
    text.push('…');
}

/// The fields that name steps and nodes, which stay whole.
const NAMES: [&str; 3] = ["step", "to", "waits_at"];

/// Shortens all texts in an event, and returns whether there were any.
fn shorten_texts(event: &mut Map<String, Value>, length: usize) -> bool {
    let values = event.iter_mut();
    let values = values.filter(|(name, _)| !NAMES.contains(&name.as_str()));
    let mut open: Vec<&mut Value> = values.map(|(_, value)| value).collect();
    let mut is_shortened = false;

    while let Some(value) = open.pop() {
        match value {
            Value::String(text) if text.len() > length + '…'.len_utf8() => {
                shorten_text(text, length);
                is_shortened = true;
            }
            Value::Array(values) => open.extend(values),
            Value::Object(values) => open.extend(values.values_mut()),
            _ => {}
        }
    }

    is_shortened
}
