use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures_util::FutureExt;
use tokio::time::Instant;

use crate::ledger::Ledger;
use crate::{Hook, HookOutcome, MemoryError, Moment, Payload, ThinkingError, ThinkingMode};

/// Calls a hook within the remaining time of the generation.
pub(crate) async fn hook(
    mode: &dyn ThinkingMode,
    moment: &Moment<'_>,
    payload: &Payload,
) -> Result<HookOutcome, ThinkingError> {
    let called = async {
        match moment.hook {
            Hook::Before => mode.before(moment, payload).await,
            Hook::After => mode.after(moment, payload).await,
        }
    };
    within(&moment.client.ledger, moment.limits.time, called).await?
}

/// Calls the memory within the remaining time. Errors are returned as text for the report.
pub(crate) async fn recall<T>(
    ledger: &Ledger,
    limit: Duration,
    call: impl Future<Output = Result<T, MemoryError>>,
) -> Result<T, String> {
    match within(ledger, limit, call).await {
        Ok(outcome) => outcome.map_err(|error| error.to_string()),
        Err(error) => Err(error.to_string()),
    }
}

/// Awaits `future` within the remaining time for thinking.
pub(crate) async fn within<T>(
    ledger: &Ledger,
    limit: Duration,
    future: impl Future<Output = T>,
) -> Result<T, ThinkingError> {
    let left = limit.saturating_sub(ledger.entries().time);
    let begun = Instant::now();

    // A panic leaves nothing inconsistent: hooks only have shared references, and the ledger is
    // written entry by entry.
    let outcome = tokio::time::timeout(left, AssertUnwindSafe(future).catch_unwind()).await;
    ledger.entries().time += begun.elapsed();
    match outcome {
        Ok(Ok(done)) => Ok(done),
        Ok(Err(panic)) => Err(ThinkingError::Panic(said(panic.as_ref()))),
        Err(_) => Err(ThinkingError::Timeout(limit)),
    }
}

fn said(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "no message".to_owned())
}
