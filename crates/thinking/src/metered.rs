//! Calls that are counted and limited.

use std::any::Any;
use std::panic::AssertUnwindSafe;

use async_trait::async_trait;
use cogwork_llm::backend::{Capabilities, ResponseLimits};
use cogwork_llm::{
    ChatRequest, ChatResponse, Delta, LlmClient, LlmError, LlmErrorKind, ReplyStream,
};
use cogwork_typed::ask::{Limit, Meter, MeteredCall, Reporting, record_call};
use futures_util::FutureExt;

use crate::ThinkingError;

/// A client whose calls are counted, and limited, recorded and reported if a hook makes them.
pub(crate) struct Metered<'a> {
    pub(crate) client: &'a dyn LlmClient,
    /// Measures all calls of the generation.
    pub(crate) calls: Meter,
    /// Measures the hook that makes the calls.
    pub(crate) hook: Option<Meter>,
}

impl Metered<'_> {
    /// Counts a call with each meter, and fits its request into the limits.
    fn begin(&self, request: ChatRequest) -> Result<(Vec<MeteredCall>, ChatRequest), LlmError> {
        let Some(hook) = &self.hook else {
            return Ok((vec![self.calls.begin(&request)], request));
        };

        // The limits are those of hooks: the calls of the program itself are its own matter.
        let request = match hook.fit(request.clone(), 1) {
            Ok(fitted) => fitted,
            // The hook itself is interrupted when its time is over.
            Err(Limit::Time(_)) => request,
            Err(limit) => {
                let message = format!("the limit of {limit} by hooks has been reached");
                return Err(LlmError::new(LlmErrorKind::Budget, message));
            }
        };
        let begun = [&self.calls, hook].map(|meter| meter.begin(&request));
        Ok((begun.into(), request))
    }
}

fn end(calls: Vec<MeteredCall>, response: &ChatResponse) {
    for call in calls {
        call.end(response);
    }
}

#[async_trait]
impl LlmClient for Metered<'_> {
    async fn complete(&self, request: ChatRequest) -> Result<ChatResponse, LlmError> {
        let (calls, request) = self.begin(request)?;
        let response = match self.hook {
            // A run that is killed in a hook doesn't ask for the replies again that it has, and its
            // page shows them.
            Some(_) => {
                let question = request.clone();
                let client = Reporting::new(self.client);
                let called = record_call(&question, || client.complete(request)).await;
                called.result?
            }
            None => self.client.complete(request).await?,
        };
        // A client of somebody else's may not have checked it.
        ResponseLimits::default().check_text(response.text().len())?;
        end(calls, &response);

        Ok(response)
    }

    async fn stream(&self, request: ChatRequest) -> Result<ReplyStream, LlmError> {
        if self.hook.is_some() {
            return Ok(self.complete(request).await?.into());
        }

        let (mut calls, request) = self.begin(request)?;
        // A stream that breaks off counts as a call without tokens.
        let reply = self.client.stream(request).await?;

        Ok(reply.inspect(move |delta| {
            if let Ok(Delta::End(response)) = delta {
                end(std::mem::take(&mut calls), response);
            }
        }))
    }

    fn capabilities(&self) -> Capabilities {
        self.client.capabilities()
    }
}

/// Awaits `future` within the time that the meter allows, and catches a panic.
pub(crate) async fn within<T>(
    meter: &Meter,
    future: impl Future<Output = T>,
) -> Result<T, ThinkingError> {
    // A panic leaves nothing inconsistent: a draft is changed in whole steps.
    let future = AssertUnwindSafe(future).catch_unwind();
    match meter.limit(future).await {
        Ok(Ok(done)) => Ok(done),
        Ok(Err(panic)) => Err(ThinkingError::Panic(panic_message(panic.as_ref()))),
        Err(limit) => Err(ThinkingError::Timeout(limit)),
    }
}

fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "no message".to_owned())
}
