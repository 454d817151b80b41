//! Answers to events, each in a promise of the workflow.
//!
//! A promise is resolved once, and an event can be answered any number of times. So the first
//! answer to the event `approve` is the promise `approve#1`, the second `approve#2`, and so on. The
//! run uses them in this order.

use bytes::Bytes;
use cogwork_flow::engine::Json;
use restate_sdk::endpoint::ContextInternal;
use restate_sdk::errors::TerminalError;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::outcome::RawJson;

/// An answer, and the delivery that it came with.
#[derive(Serialize, Deserialize)]
pub(crate) struct Delivered {
    by: String,
    pub(crate) answer: Json,
}

pub(crate) fn promise_name(event: &str, number: u64) -> String {
    format!("{event}#{number}")
}

/// Makes this the next answer to the event.
pub(crate) async fn deliver(
    context: &ContextInternal,
    by: &str,
    event: &str,
    answer: &RawValue,
) -> Result<(), TerminalError> {
    let delivered = Delivered {
        by: by.to_owned(),
        answer: Json::from_record(answer.get()),
    };
    let bytes = Bytes::from(serde_json::to_vec(&delivered).map_err(TerminalError::from_error)?);
    let mut number = first_free(context, event).await?;

    // Another delivery may resolve the same promise at the same time. One of them wins.
    loop {
        let name = promise_name(event, number);
        context.resolve_promise(&name, RawJson(bytes.clone()));

        // Read back, because resolving a promise twice isn't an error: the first answer stays.
        let resolved: RawJson = context.promise(&name).await?;
        if resolved.0 == bytes {
            return Ok(());
        }

        number = number.saturating_add(1);
    }
}

/// Returns the number of the first promise that isn't resolved, with few questions: all earlier
/// ones are resolved.
async fn first_free(context: &ContextInternal, event: &str) -> Result<u64, TerminalError> {
    let mut resolved = 0;
    let mut unresolved = 1;

    while is_resolved(context, event, unresolved).await? {
        resolved = unresolved;
        unresolved = unresolved.saturating_mul(2);
    }

    while unresolved - resolved > 1 {
        let middle = resolved + (unresolved - resolved) / 2;
        if is_resolved(context, event, middle).await? {
            resolved = middle;
        } else {
            unresolved = middle;
        }
    }

    Ok(unresolved)
}

async fn is_resolved(
    context: &ContextInternal,
    event: &str,
    number: u64,
) -> Result<bool, TerminalError> {
    let name = promise_name(event, number);
    let resolved: Option<RawJson> = context.peek_promise(&name).await?;
    Ok(resolved.is_some())
}
