//! Times as they are recorded: in milliseconds since 1970.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Returns the current time of this machine.
pub(crate) fn now() -> u64 {
    to_millis(SystemTime::now())
}

pub(crate) fn to_millis(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// Returns `None` if the platform cannot represent the time.
pub(crate) fn from_millis(millis: u64) -> Option<SystemTime> {
    UNIX_EPOCH.checked_add(Duration::from_millis(millis))
}
