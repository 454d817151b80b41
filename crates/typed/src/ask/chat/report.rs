//! Reports a call and its result.

use std::sync::atomic::{AtomicU64, Ordering};

use cogwork_flow::{is_watched, report_from};
use cogwork_llm::{ChatRequest, ChatResponse, LlmError};
use tokio::time::Instant;

use super::event::{ChatCall, ChatEvent};

/// The source of these events, in the events of a run.
pub(crate) const SOURCE: &str = "chat";

tokio::task_local! {
    /// Set while a call is polled that is reported by its caller.
    pub(super) static REPORTED: ();
}

/// Returns whether the code runs inside a call that is reported.
pub(super) fn is_reported() -> bool {
    REPORTED.try_with(|()| ()).is_ok()
}

/// Returns the number of the next call in this process.
pub(super) fn next_number() -> u64 {
    static CALLS: AtomicU64 = AtomicU64::new(0);
    CALLS.fetch_add(1, Ordering::Relaxed) + 1
}

/// A call whose beginning was reported.
#[derive(Debug, Clone)]
pub(crate) struct ReportedCall {
    call: ChatCall,
    started: Instant,
}

impl ReportedCall {
    /// Reports the beginning of a call. Returns `None` if the run isn't watched, or if the caller
    /// reports the call already.
    pub(crate) fn begin(name: &str, request: &ChatRequest) -> Option<Self> {
        if !is_watched() || is_reported() {
            return None;
        }

        let call = ChatCall {
            number: next_number(),
            name: name.to_owned(),
            // Servers encrypt or sign this data; people can't read it.
            request: request.without_provider_data(),
        };
        report_from(SOURCE, || ChatEvent::Sent { call: call.clone() });

        Some(Self {
            call,
            started: Instant::now(),
        })
    }

    /// Returns the number of the call.
    pub(crate) fn number(&self) -> u64 {
        self.call.number
    }

    /// Polls the call. Clients inside it don't report it again.
    pub(crate) async fn during<T>(&self, call: impl Future<Output = T>) -> T {
        REPORTED.scope((), call).await
    }

    /// Reports the result.
    pub(crate) fn end(self, result: Result<&ChatResponse, &LlmError>) {
        let took = self.started.elapsed();
        let call = self.call;

        report_from(SOURCE, || match result {
            Ok(response) => ChatEvent::Replied {
                call,
                response: response.clone().without_provider_data(),
                took,
            },
            Err(error) => ChatEvent::Failed {
                call,
                error: error.to_string(),
                text_so_far: error.text_so_far().unwrap_or_default().to_owned(),
                took,
            },
        });
    }
}
