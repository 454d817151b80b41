use std::any::Any;
use std::panic::AssertUnwindSafe;

use futures_util::FutureExt;

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
    within(&moment.client.ledger, called).await?
}

/// Calls the memory within the remaining time. Errors are returned as text for the report.
pub(crate) async fn recall<T>(
    ledger: &Ledger,
    call: impl Future<Output = Result<T, MemoryError>>,
) -> Result<T, String> {
    match within(ledger, call).await {
        Ok(outcome) => outcome.map_err(|error| error.to_string()),
        Err(error) => Err(error.to_string()),
    }
}

/// Awaits `future` within the remaining time for thinking.
pub(crate) async fn within<T>(
    ledger: &Ledger,
    future: impl Future<Output = T>,
) -> Result<T, ThinkingError> {
    let _running = ledger.hooks.run();

    // A panic leaves nothing inconsistent: hooks only have shared references, and the ledger is
    // written entry by entry.
    let future = AssertUnwindSafe(future).catch_unwind();
    match ledger.hooks.limit(future).await {
        Ok(Ok(done)) => Ok(done),
        Ok(Err(panic)) => Err(ThinkingError::Panic(said(panic.as_ref()))),
        Err(limit) => Err(ThinkingError::Timeout(limit)),
    }
}

fn said(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "no message".to_owned())
}
