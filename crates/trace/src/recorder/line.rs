//! The JSON of events.

use cogwork_flow::{EventKind, ReportedValue};
use serde::Serialize;

/// Returns the JSON of an event's kind.
pub(super) fn kind_json(kind: &EventKind) -> serde_json::Result<String> {
    match kind {
        EventKind::Reported { report } => reported_json(report.source(), &value_json(report)?),
        kind => serde_json::to_string(kind),
    }
}

/// A report that cannot be written is recorded as its error.
fn value_json(report: &ReportedValue) -> serde_json::Result<String> {
    match report.to_json() {
        Ok(json) => Ok(json),
        Err(error) => serde_json::to_string(&Unwritable {
            name: "unwritable",
            error: error.to_string(),
        }),
    }
}

#[derive(Serialize)]
struct Unwritable {
    #[serde(rename = "type")]
    name: &'static str,
    error: String,
}

/// Returns the JSON of a report.
pub(super) fn reported_json(source: Option<&str>, report: &str) -> serde_json::Result<String> {
    let mut json = String::with_capacity(report.len() + 60);
    json.push_str(r#"{"type":"reported","#);

    if let Some(source) = source {
        json.push_str(r#""source":"#);
        json.push_str(&serde_json::to_string(source)?);
        json.push(',');
    }

    json.push_str(r#""report":"#);
    json.push_str(report);
    json.push('}');
    Ok(json)
}

/// Returns a line, with the fields that all events have. `step` is JSON, and `kind` is a JSON object
/// with at least one field.
pub(super) fn line(step: Option<&str>, at: f64, kind: &str) -> serde_json::Result<String> {
    let mut line = String::with_capacity(kind.len() + 80);
    line.push('{');

    if let Some(step) = step {
        line.push_str(r#""step":"#);
        line.push_str(step);
        line.push(',');
    }

    // Microseconds are precise enough, and shorter.
    let at = (at * 1e6).round() / 1e6;
    line.push_str(r#""at":"#);
    line.push_str(&serde_json::to_string(&at)?);
    line.push(',');
    line.push_str(kind.strip_prefix('{').unwrap_or(kind));
    line.push('\n');

    Ok(line)
}
