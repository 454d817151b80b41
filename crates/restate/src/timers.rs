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

/// Starts a timer.
pub(crate) fn after(context: &ContextInternal, duration: Duration) -> Timer<'_> {
    // Restate counts milliseconds since 1970, which must not overflow.
    Box::pin(context.sleep(duration.min(LONGEST)))
}

/// Sleeps for this long, or until the deadline passes.
pub(crate) async fn sleep(
    context: &ContextInternal,
    duration: Duration,
    deadline: Option<Duration>,
) -> Result<(), Stopped> {
    let slept = after(context, duration);
    // A second timer, since a suspended run isn't called at its deadline by anything else.
    if let Some(deadline) = deadline.map(|left| after(context, left)) {
        let first = vec![slept.handle(), deadline.handle()];
        if context.select(first).await? != 0 {
            return Err(Stopped::Deadline);
        }
    }

    Ok(slept.await?)
}

/// Returns the time since 1970.
pub(crate) fn now() -> Duration {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.unwrap_or_default()
}

/// A hundred years: Restate adds durations to the current time, which must not overflow.
const LONGEST: Duration = Duration::from_secs(100 * 365 * 24 * 3600);
