use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::time::Instant;

/// The time of day, as far as tokio's clock has come since this first looked: nobody can set that one
/// back, and tests can pause it.
pub(super) struct Clock {
    then: SystemTime,
    since: Instant,
}

impl Clock {
    pub(super) fn new() -> Self {
        let since = Instant::now();
        // A clock that was paused may be ahead, and a journal opened later must not fall behind it.
        let ahead = since.into_std().saturating_duration_since(std::time::Instant::now());
        let now = SystemTime::now();
        Self { then: now.checked_add(ahead).unwrap_or(now), since }
    }

    /// Milliseconds since 1970, so long from now.
    pub(super) fn after(&self, duration: Duration) -> u64 {
        let then = self.then.duration_since(UNIX_EPOCH).unwrap_or_default();
        let after = then.saturating_add(self.since.elapsed()).saturating_add(duration);
        // No later than a `SystemTime` can say anywhere: some hundred years from now.
        u64::try_from(after.as_millis()).unwrap_or(u64::MAX).min(LAST_MILLISECOND)
    }

    pub(super) fn left(&self, until: u64) -> Duration {
        Duration::from_millis(until.saturating_sub(self.after(Duration::ZERO)))
    }
}

/// The end of the year 2500.
const LAST_MILLISECOND: u64 = 16_756_761_600_000;
