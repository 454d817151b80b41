//! Times in the JSON of events.

use std::time::{Duration, SystemTime};

use serde::Serializer;

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
