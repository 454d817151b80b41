use std::future::poll_fn;
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Poll;
use std::time::Duration;

use tokio::time::{Instant, sleep};

/// The time of a turn. The time of recorded calls counts as if they had been made just now.
#[derive(Debug)]
pub(crate) struct Clock {
    started: Instant,
    replayed_nanos: AtomicU64,
}

impl Clock {
    pub(crate) fn start() -> Self {
        Self {
            started: Instant::now(),
            replayed_nanos: AtomicU64::new(0),
        }
    }

    fn elapsed(&self) -> Duration {
        self.started.elapsed().saturating_add(self.replayed())
    }

    /// Adds the time of a recorded call.
    pub(crate) fn add_replayed(&self, took: Duration) {
        let nanos = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        let sum = |replayed: u64| Some(replayed.saturating_add(nanos));

        // The function never returns `None`.
        let _ = self
            .replayed_nanos
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, sum);
    }

    /// Returns the time of recorded calls.
    pub(crate) fn replayed(&self) -> Duration {
        Duration::from_nanos(self.replayed_nanos.load(Ordering::Relaxed))
    }

    /// Returns the output of `future`, or `None` if `limit` passes before.
    pub(crate) async fn limit<T>(
        &self,
        limit: Duration,
        future: impl Future<Output = T>,
    ) -> Option<T> {
        let before = self.elapsed();
        let mut future = pin!(future);
        let mut timer = pin!(sleep(limit));

        poll_fn(|context| {
            let replayed = self.replayed();
            if let Poll::Ready(output) = future.as_mut().poll(context) {
                return Poll::Ready(Some(output));
            }

            // Recorded calls bring the deadline forward.
            if self.replayed() != replayed {
                let left = limit.saturating_sub(self.elapsed().saturating_sub(before));
                timer.set(sleep(left));
            }

            timer.as_mut().poll(context).map(|()| None)
        })
        .await
    }
}
