//! Items of a batch, as calls of a second service that any worker may serve.

use std::num::NonZeroU32;

use cogwork_flow::StepName;
use cogwork_flow::journal::{Items, StepError};
use restate_sdk::context::{CallFuture, RequestTarget};
use restate_sdk::endpoint::ContextInternal;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::stopped::Stopped;
use crate::timers::{Timer, Timers};
use crate::tried::{RawJson, Tried};

/// The handler of the second service.
pub(crate) const ITEM: &str = "item";

/// An item as it is sent.
#[derive(Serialize, Deserialize)]
pub(crate) struct ItemCall<'a> {
    /// The name of the step, which becomes the name of the entries.
    pub(crate) step: &'a str,
    pub(crate) batch: &'a str,
    #[serde(borrow)]
    pub(crate) item: &'a RawValue,
}

/// Calls the service with this name for each item, with as many calls at once as the batch allows.
pub(crate) async fn fan_out(
    timers: Timers<'_>,
    service: &str,
    step: &StepName,
    items: Items<'_>,
) -> Result<Vec<Vec<u8>>, StepError> {
    let mut calls = Calls {
        context: timers.context,
        deadline: timers.deadline(),
        pending: Vec::new(),
    };

    let mut outcomes = vec![Vec::new(); items.len()];
    let mut waiting = 0..items.len();
    for index in waiting.by_ref().take(items.at_most()) {
        let item = items.data(index)?;
        let call = call(timers, service, &step.of_item(index), &item)?;
        calls.pending.push((index, call));
    }

    while !calls.pending.is_empty() {
        let (index, outcome) = match calls.next().await {
            Ok(next) => next,
            Err(error) => {
                calls.cancel().await?;
                return Err(error);
            }
        };
        if let Some(place) = outcomes.get_mut(index) {
            *place = outcome;
        }

        if let Some(index) = waiting.next() {
            let item = items.data(index)?;
            let call = call(timers, service, &step.of_item(index), &item)?;
            calls.pending.push((index, call));
        }
    }

    Ok(outcomes)
}

fn call<'a>(
    timers: Timers<'a>,
    service: &str,
    step: &StepName,
    item: &[u8],
) -> Result<impl CallFuture<Response = Tried> + Send + use<'a>, StepError> {
    let call = ItemCall {
        step: &step.to_string(),
        batch: &step.place(),
        item: serde_json::from_slice(item).map_err(StepError::journal)?,
    };
    let call = RawJson::of(&call).map_err(StepError::journal)?;

    let target = RequestTarget::service(service, ITEM);
    Ok(timers.context.request(target, call).call())
}

/// The calls of one batch that have no outcome yet.
struct Calls<'a, F> {
    context: &'a ContextInternal,
    deadline: Option<Timer<'a>>,
    pending: Vec<(usize, F)>,
}

impl<F: CallFuture<Response = Tried> + Send> Calls<'_, F> {
    /// Returns the outcome of the next item that has one.
    async fn next(&mut self) -> Result<(usize, Vec<u8>), StepError> {
        let pending = self.pending.iter().map(|(_, call)| call.handle());
        let deadline = self.deadline.iter().map(|timer| timer.handle());
        let handles = pending.chain(deadline).collect();

        let first = self.context.select(handles).await;
        let first = first.map_err(|error| StepError::journal(Stopped::from(error)))?;
        if first >= self.pending.len() {
            return Err(StepError::journal(Stopped::Deadline));
        }

        let (index, call) = self.pending.swap_remove(first);
        let outcome = match call.await {
            Ok(tried) => tried.into(),
            Err(error) => {
                let error = error.message().to_owned();
                Err(StepError::failed(NonZeroU32::MIN, error))
            }
        };

        let outcome = outcome.map_err(|error: StepError| error.of_item(index))?;
        Ok((index, outcome))
    }

    /// Cancels the calls whose outcomes are no longer needed.
    async fn cancel(&mut self) -> Result<(), StepError> {
        for (_, call) in self.pending.drain(..) {
            let handle = call.invocation_handle().await.map_err(Stopped::from);
            handle.map_err(StepError::journal)?.cancel();
        }

        Ok(())
    }
}
