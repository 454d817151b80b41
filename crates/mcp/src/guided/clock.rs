use std::time::{SystemTime, UNIX_EPOCH};

use tokio::time::Instant;

/// A clock that starts at the system time, and is advanced by tokio's clock.
#[derive(Debug)]
pub(super) struct Clock {
    then: SystemTime,
    since: Instant,
}

impl Clock {
    pub(super) fn new() -> Self {
        Self {
            then: SystemTime::now(),
            since: Instant::now(),
        }
    }

    /// Returns the milliseconds since 1970.
    pub(super) fn now(&self) -> u64 {
        let then = self.then.duration_since(UNIX_EPOCH).unwrap_or_default();
        let now = then.saturating_add(self.since.elapsed());
        u64::try_from(now.as_millis()).unwrap_or(u64::MAX)
    }
}
