//! Stamps and times.

use std::time::{SystemTime, UNIX_EPOCH};

/// Returns the first of many stamps, which are unlikely to be those of other processes.
pub(super) fn random_stamp() -> i64 {
    let (high, _) = uuid::Uuid::new_v4().as_u64_pair();
    high.cast_signed()
}

/// Returns the milliseconds since 1970.
pub(super) fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| {
        i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
    })
}
