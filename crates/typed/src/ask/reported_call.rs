//! Reports calls to models in the events of a run.

use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use cogwork_flow::watch::{is_watched, report_from};
use cogwork_llm::backend::Capabilities;
use cogwork_llm::{ChatRequest, ChatResponse, Delta, LlmClient, LlmError, ReplyStream};
use futures_util::stream;
use tokio::time::Instant;

use crate::ask::{ChatCall, ChatEvent};

/// The source of the reports about models.
pub(super) const SOURCE: &str = "chat";

tokio::task_local! {
    /// Set while a call is polled that is reported by its caller.
    static REPORTED: ();
}

/// Returns the number of the next call in this process.
fn next_number() -> u64 {
    static CALLS: AtomicU64 = AtomicU64::new(0);
    CALLS.fetch_add(1, Ordering::Relaxed) + 1
}

/// A call whose beginning was reported, if it has to be.
#[derive(Default)]
pub(super) struct ReportedCall(Option<(ChatCall, Instant)>);

impl ReportedCall {
    /// Reports the beginning of a call.
    pub(super) fn begin(name: &str, request: &ChatRequest) -> Self {
        let is_reported = REPORTED.try_with(|()| ()).is_ok();
        if is_reported || !is_watched() {
            return Self(None);
        }

        let call = ChatCall {
            number: next_number(),
            name: name.to_owned(),
            // Servers encrypt or sign this data; people can't read it.
            request: request.without_provider_data(),
        };
        report_from(SOURCE, || ChatEvent::Sent { call: call.clone() });

        Self(Some((call, Instant::now())))
    }

    /// Returns the number of the call, if it is reported.
    pub(super) fn number(&self) -> Option<u64> {
        self.0.as_ref().map(|(call, _)| call.number)
    }

    /// Polls the call. Clients inside it don't report it again.
    pub(super) fn during<T>(&self, call: impl Future<Output = T>) -> impl Future<Output = T> {
        REPORTED.scope((), call)
    }

    /// Reports the result.
    pub(super) fn end(self, result: Result<&ChatResponse, &LlmError>) {
        let Some((call, started)) = self.0 else {
            return;
        };

        let took = started.elapsed();
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

/// A client that reports its calls in the events of the run, as
/// [`ChatEvent`](crate::ask::ChatEvent)s, for nodes that call a client directly.
///
/// Outside of a node, and in a run that isn't watched, calls are passed on without any cost. So are
/// calls that are reported already: those of [`Asking`](crate::ask::Asking), and those of another
/// `Reporting` around this one.
///
/// ```
/// use cogwork_flow::watch::{EventKind, events};
/// use cogwork_flow::{Flow, from_phases_with};
/// use cogwork_llm::{ChatRequest, LlmClient, Message, ScriptedClient};
/// use cogwork_typed::ask::{ChatEvent, Reporting};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let client = Reporting::new(ScriptedClient::new(["Oslo."]));
/// let ask = from_phases_with(
///     client,
///     |question: &mut String| ChatRequest::new([Message::user(question.as_str())]),
///     async |client, request: ChatRequest| client.complete(request.clone()).await,
///     |question, response| *question = response.text().to_owned(),
/// );
/// let flow = Flow::from_node("ask", ask)?;
///
/// let (sink, mut events) = events(100);
/// flow.begin().with_events(sink).finish(&mut "The capital of Norway?".to_owned()).await?;
///
/// let mut replies = Vec::new();
/// while let Some(event) = events.next().await {
///     if let EventKind::Reported { report } = &event.kind
///         && let Some(ChatEvent::Replied { response, .. }) = report.downcast_ref()
///     {
///         replies.push(response.text().to_owned());
///     }
/// }
/// assert_eq!(replies, ["Oslo."]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Reporting<C>(C);

impl<C> Reporting<C> {
    /// Wraps `client`.
    pub fn new(client: C) -> Self {
        Self(client)
    }
}

#[async_trait]
impl<C: LlmClient> LlmClient for Reporting<C> {
    /// # Errors
    ///
    /// Returns the error of the client.
    async fn complete(&self, request: ChatRequest) -> Result<ChatResponse, LlmError> {
        let call = ReportedCall::begin("", &request);
        let result = call.during(self.0.complete(request)).await;
        call.end(result.as_ref());
        result
    }

    /// # Errors
    ///
    /// Returns the error of the client.
    async fn stream(&self, request: ChatRequest) -> Result<ReplyStream, LlmError> {
        let call = ReportedCall::begin("", &request);
        match call.during(self.0.stream(request)).await {
            Ok(reply) => Ok(report_end(reply, call)),
            Err(error) => {
                call.end(Err(&error));
                Err(error)
            }
        }
    }

    fn capabilities(&self) -> Capabilities {
        self.0.capabilities()
    }
}

/// Reports the end of a stream when it is read.
fn report_end(reply: ReplyStream, call: ReportedCall) -> ReplyStream {
    let state = (reply, call);

    ReplyStream::new(stream::unfold(state, async |(mut reply, mut call)| {
        // A stream that is dropped before its end has no result to report.
        let delta = call.during(reply.next()).await?;

        match &delta {
            Ok(Delta::End(response)) => std::mem::take(&mut call).end(Ok(response)),
            Ok(_) => {}
            Err(error) => std::mem::take(&mut call).end(Err(error)),
        }

        Some((delta, (reply, call)))
    }))
}
