use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::time::Instant;

/// The time of day when this was made, and tokio's clock from there on: nobody can set that one back, and
/// tests can pause it.
pub(super) struct Clock {
    then: SystemTime,
    since: Instant,
}

impl Clock {
    /// A clock that shows the system's time.
    pub(super) fn new() -> Self {
        let since = Instant::now();
        let real = std::time::Instant::now();
        let now = SystemTime::now();

        // A clock that is paused stands still or is ahead. Two journals of one run show the same time all
        // the same.
        let ahead = since.into_std().saturating_duration_since(real);
        let behind = real.saturating_duration_since(since.into_std());
        let then = now
            .checked_add(ahead)
            .and_then(|then| then.checked_sub(behind));

        Self {
            then: then.unwrap_or(now),
            since,
        }
    }

    /// A clock that shows this time.
    pub(super) fn at(now: SystemTime) -> Self {
        Self {
            then: now,
            since: Instant::now(),
        }
    }

    /// Milliseconds since 1970, so long from now.
    pub(super) fn after(&self, duration: Duration) -> u64 {
        let then = self.then.duration_since(UNIX_EPOCH).unwrap_or_default();
        let after = then
            .saturating_add(self.since.elapsed())
            .saturating_add(duration);

        // No later than a `SystemTime` can say anywhere: some hundred years from now.
        u64::try_from(after.as_millis())
            .unwrap_or(u64::MAX)
            .min(LAST_MILLISECOND)
    }

    pub(super) fn left(&self, until: u64) -> Duration {
        Duration::from_millis(until.saturating_sub(self.after(Duration::ZERO)))
    }
}

/// The end of the year 2500.
const LAST_MILLISECOND: u64 = 16_756_761_600_000;
