use std::panic::AssertUnwindSafe;

use futures_util::FutureExt;
use restate_sdk::endpoint::ContextInternal;
use restate_sdk::errors::{HandlerError, TerminalError};

use crate::attempts::settle;
use crate::fan_out::ItemCall;
use crate::inner::Inner;
use crate::stopped::{Stopped, code};
use crate::timers::Timers;
use crate::tried::{RawJson, Tried};

/// Works on one item of a batch. A failure is a result as well, so that Restate doesn't repeat it.
pub(crate) async fn item<S: Send + 'static>(
    inner: &Inner<S>,
    context: &ContextInternal,
) -> Result<Tried, HandlerError> {
    let (RawJson(input), _) = context.input().await;
    let ItemCall { step, batch, item } = serde_json::from_slice(&input).map_err(|error| {
        let problem = format!("this isn't an item of a batch: {error}");
        TerminalError::new_with_code(code::UNREADABLE, problem)
    })?;

    let timers = Timers {
        context,
        until: None,
    };
    let data = item.get().as_bytes();
    let attempt = |number| async move {
        let work = AssertUnwindSafe(inner.flow.attempt_item(batch, data, number));

        // A panic would close the connection, and Restate would repeat the attempt.
        match work.catch_unwind().await {
            Ok(tried) => Tried::from(tried),
            Err(panic) => Tried::panicked(number, panic.as_ref()),
        }
    };

    settle(timers, step, attempt).await.map_err(|stopped| {
        let error = match stopped {
            Stopped::ByEngine { code, message } => TerminalError::new_with_code(code, message),
            Stopped::Deadline => TerminalError::new_with_code(code::DEADLINE, stopped.to_string()),
        };
        error.into()
    })
}
