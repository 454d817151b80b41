//! The JSON of events.

use cogwork_flow::{EventKind, ReportedValue};
use serde_json::{Value, json};

/// Appends the JSON of an event's kind to a line.
pub(super) fn write_kind(line: &mut Vec<u8>, kind: &EventKind) -> serde_json::Result<()> {
    let EventKind::Reported { report } = kind else {
        return serde_json::to_writer(line, kind);
    };

    let json = value_json(report)?;
    write_reported(line, report.source(), |line| {
        line.extend_from_slice(json.as_bytes());
        Ok(())
    })
}

/// A report that cannot be written is recorded as its error.
fn value_json(report: &ReportedValue) -> serde_json::Result<String> {
    match report.to_json() {
        Ok(json) => Ok(json),
        Err(error) => {
            let unwritable = json!({ "type": "unwritable", "error": error.to_string() });
            serde_json::to_string(&unwritable)
        }
    }
}

/// Appends the JSON of a report of the source `chat` to a line.
pub(super) fn write_chat(line: &mut Vec<u8>, report: &Value) -> serde_json::Result<()> {
    write_reported(line, Some("chat"), |line| {
        serde_json::to_writer(line, report)
    })
}

fn write_reported(
    line: &mut Vec<u8>,
    source: Option<&str>,
    write_report: impl FnOnce(&mut Vec<u8>) -> serde_json::Result<()>,
) -> serde_json::Result<()> {
    line.extend_from_slice(br#"{"type":"reported","#);

    if let Some(source) = source {
        line.extend_from_slice(br#""source":"#);
        serde_json::to_writer(&mut *line, source)?;
        line.push(b',');
    }

    line.extend_from_slice(br#""report":"#);
    write_report(line)?;
    line.push(b'}');
    Ok(())
}

/// Appends a line, with the fields that all events have. `step` is JSON. `write_kind` appends a JSON
/// object with at least one field, and `prepare` returns it as it is recorded, or `None` if it
/// doesn't change.
pub(super) fn write_line(
    line: &mut Vec<u8>,
    step: Option<&str>,
    at: f64,
    write_kind: impl FnOnce(&mut Vec<u8>) -> serde_json::Result<()>,
    prepare: impl FnOnce(&[u8]) -> serde_json::Result<Option<String>>,
) -> serde_json::Result<()> {
    line.push(b'{');

    if let Some(step) = step {
        line.extend_from_slice(br#""step":"#);
        line.extend_from_slice(step.as_bytes());
        line.push(b',');
    }

    // Microseconds are precise enough, and shorter.
    let at = (at * 1e6).round() / 1e6;
    line.extend_from_slice(br#""at":"#);
    serde_json::to_writer(&mut *line, &at)?;

    let start = line.len();
    write_kind(line)?;

    let kind = line.get(start..).unwrap_or_default();
    if let Some(prepared) = prepare(kind)? {
        line.truncate(start);
        line.extend_from_slice(prepared.as_bytes());
    }

    // The fields of the kind follow those of the line.
    if let Some(brace) = line.get_mut(start) {
        *brace = b',';
    }

    line.push(b'\n');
    Ok(())
}
