use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::time::Instant;

/// A clock that starts at the time of its creation and is advanced by tokio's clock, which cannot
/// be set back and can be paused in tests.
pub(super) struct Clock {
    then: SystemTime,
    since: Instant,
}

impl Clock {
    /// Creates a clock that starts at the system time.
    pub(super) fn new() -> Self {
        let since = Instant::now();
        let real = std::time::Instant::now();
        let now = SystemTime::now();

        // A paused clock is late or early. Two journals of one run must still agree on the time.
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

    /// Creates a clock with this time.
    pub(super) fn at(now: SystemTime) -> Self {
        Self {
            then: now,
            since: Instant::now(),
        }
    }

    /// Returns the time after `duration`, in milliseconds since 1970.
    pub(super) fn after(&self, duration: Duration) -> u64 {
        // A system clock before 1970 must not fail the run.
        let then = self.then.duration_since(UNIX_EPOCH).unwrap_or_default();
        // A program may ask for a wait of `Duration::MAX`.
        let after = then
            .saturating_add(self.since.elapsed())
            .saturating_add(duration);

        // At most the latest time that every platform's `SystemTime` can represent, in some hundred
        // years.
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
