use std::pin::Pin;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use restate_sdk::context::DurableFuture;
use restate_sdk::context::macro_support::SealedDurableFuture;
use restate_sdk::endpoint::ContextInternal;
use restate_sdk::errors::TerminalError;

use crate::stopped::Stopped;

/// A timer of Restate, which survives crashes.
pub(crate) type Timer<'a> =
    Pin<Box<dyn DurableFuture<Output = Result<(), TerminalError>> + Send + 'a>>;

/// Sleeps of one run, which end when its deadline passes.
#[derive(Clone, Copy)]
pub(crate) struct Timers<'a> {
    pub(crate) context: &'a ContextInternal,
    /// The deadline of the run, in milliseconds since 1970.
    pub(crate) until: Option<u64>,
}

impl<'a> Timers<'a> {
    /// Sleeps for this long.
    pub(crate) async fn sleep(self, duration: Duration) -> Result<(), Stopped> {
        let slept = self.after(duration);
        if let Some(deadline) = self.deadline() {
            let first = vec![slept.handle(), deadline.handle()];
            if self.context.select(first).await? != 0 {
                return Err(Stopped::Deadline);
            }
        }

        Ok(slept.await?)
    }

    /// Starts a timer.
    pub(crate) fn after(self, duration: Duration) -> Timer<'a> {
        Box::pin(self.context.sleep(duration.min(LONGEST)))
    }

    /// Starts a timer for the deadline, if there is one. Without it, a run that is suspended while
    /// it waits wouldn't be called again at its deadline.
    pub(crate) fn deadline(self) -> Option<Timer<'a>> {
        let until = Duration::from_millis(self.until?);
        Some(self.after(until.saturating_sub(now())))
    }
}

/// Returns the time since 1970.
pub(crate) fn now() -> Duration {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.unwrap_or_default()
}

/// A hundred years: Restate adds durations to the current time, which must not overflow.
const LONGEST: Duration = Duration::from_secs(100 * 365 * 24 * 3600);
