//! Times and reports in the JSON of events.

use std::time::{Duration, SystemTime};

use serde::Serializer;
use serde::ser::SerializeMap;

use crate::ReportedValue;

/// Serialises a duration as a number of seconds.
pub(crate) fn seconds<S: Serializer>(time: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(time.as_secs_f64())
}

/// Serialises a time as the number of seconds since the Unix epoch.
pub(crate) fn seconds_since_epoch<S: Serializer>(
    time: &Option<SystemTime>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let since = time.and_then(|time| time.duration_since(SystemTime::UNIX_EPOCH).ok());

    match since {
        Some(since) => seconds(&since, serializer),
        None => serializer.serialize_none(),
    }
}

/// Serialises a report with its source.
pub(crate) fn report<S: Serializer>(
    report: &ReportedValue,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let mut fields = serializer.serialize_map(None)?;
    if let Some(source) = report.source() {
        fields.serialize_entry("source", source)?;
    }

    fields.serialize_entry("report", report)?;
    fields.end()
}
