//! The JSON of events.

use cogwork_flow::watch::EventKind;
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

/// A value that a node reported.
#[derive(Serialize)]
struct Reported<'a, R> {
    #[serde(rename = "type")]
    name: &'static str,
    source: &'a str,
    report: R,
}

/// Returns the JSON of an event's kind. A report that cannot be written is recorded as its error.
pub(super) fn kind(kind: &EventKind) -> serde_json::Result<String> {
    let EventKind::Reported { report } = kind else {
        return serde_json::to_string(kind);
    };

    let value = report.to_json().map(RawValue::from_string);
    match value {
        Ok(value) => reported(report.source(), &value?),
        Err(error) => {
            let unwritable = json!({ "type": "unwritable", "error": error.to_string() });
            reported(report.source(), &unwritable)
        }
    }
}

/// Returns the JSON of a report of the source `chat`.
pub(super) fn chat(report: &Value) -> serde_json::Result<String> {
    reported("chat", report)
}

fn reported(source: &str, report: &impl Serialize) -> serde_json::Result<String> {
    serde_json::to_string(&Reported {
        name: "reported",
        source,
        report,
    })
}

/// Returns a line: the fields that all events have, and those of the kind, which is a JSON object with
/// at least one field.
pub(super) fn with_kind(step: Option<&str>, at: f64, kind: &str) -> serde_json::Result<String> {
    // Microseconds are precise enough, and shorter.
    let at = (at * 1e6).round() / 1e6;
    let at = serde_json::to_string(&at)?;
    let fields = kind.strip_prefix('{').unwrap_or_default();

    Ok(match step {
        Some(step) => {
            let step = serde_json::to_string(step)?;
            format!(r#"{{"step":{step},"at":{at},{fields}"#)
        }
        None => format!(r#"{{"at":{at},{fields}"#),
    })
}
