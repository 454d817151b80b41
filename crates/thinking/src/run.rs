use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures_util::FutureExt;
use tokio::time::Instant;

use crate::ledger::Ledger;
use crate::{Hook, Moment, Payload, ThinkingError, ThinkingMode, Verdict};

/// Calls a hook within the time that is left of the generation's.
pub(crate) async fn hook(
    mode: &dyn ThinkingMode,
    moment: &Moment<'_>,
    payload: &Payload,
) -> Result<Verdict, ThinkingError> {
    let called = async {
        match moment.hook {
            Hook::Before => mode.before(moment, payload).await,
            Hook::After => mode.after(moment, payload).await,
        }
    };
    // A hook that panics leaves nothing half changed: it was given everything to read alone, and the
    // ledger is written entry by entry.
    let called = AssertUnwindSafe(called).catch_unwind();
    let outcome = within(&moment.client.ledger, moment.limits.time, called).await?;
    outcome.unwrap_or_else(|panic| Err(ThinkingError::Panic(said(panic.as_ref()))))
}

/// What `future` gives in the time that the generation has left for thinking.
pub(crate) async fn within<T>(
    ledger: &Ledger,
    limit: Duration,
    future: impl Future<Output = T>,
) -> Result<T, ThinkingError> {
    let left = limit.saturating_sub(ledger.entries().spent);
    let begun = Instant::now();
    let outcome = tokio::time::timeout(left, future).await;
    ledger.entries().spent += begun.elapsed();
    outcome.map_err(|_| ThinkingError::Timeout(limit))
}

fn said(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no message".to_owned())
}
