use async_trait::async_trait;
use cogwork_llm::{
    Capabilities, ChatRequest, ChatResponse, Delta, LlmClient, LlmError, ReplyStream,
};
use futures_util::stream;

use super::report::ReportedCall;

/// A client or an embedder that reports its calls in the events of the run, as
/// [`ChatEvent`](crate::ask::ChatEvent)s, for nodes that call a client directly.
///
/// Outside of a node, and in a run that isn't watched, calls are passed on without any cost. So are
/// calls that are reported already: those of [`Asking`](crate::ask::Asking), and those of another
/// `Reporting` around this one.
///
/// ```
/// use cogwork_typed::ask::{ChatEvent, Reporting};
/// use cogwork_flow::{EventKind, Flow, events, from_phases_with};
/// use cogwork_llm::{ChatRequest, LlmClient, Message, ScriptedClient};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let client = Reporting::new(ScriptedClient::new(["Oslo."]));
/// let ask = from_phases_with(
///     client,
///     |question: &mut String| ChatRequest::new([Message::user(question.as_str())]),
///     async |client, request: ChatRequest| client.complete(request.clone()).await,
///     |question, _, response| *question = response.text().to_owned(),
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
pub struct Reporting<C> {
    pub(super) client: C,
    pub(super) name: String,
}

impl<C> Reporting<C> {
    /// Wraps `client`.
    pub fn new(client: C) -> Self {
        Self {
            client,
            name: String::new(),
        }
    }

    /// Sets the name of the calls, such as `summary`. None by default.
    #[must_use]
    pub fn with_name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }
}

#[async_trait]
impl<C: LlmClient> LlmClient for Reporting<C> {
    /// # Errors
    ///
    /// Returns the error of the client.
    async fn complete(&self, request: ChatRequest) -> Result<ChatResponse, LlmError> {
        let Some(call) = ReportedCall::begin(&self.name, &request) else {
            return self.client.complete(request).await;
        };

        let result = call.during(self.client.complete(request)).await;
        call.end(result.as_ref());
        result
    }

    /// # Errors
    ///
    /// Returns the error of the client.
    async fn stream(&self, request: ChatRequest) -> Result<ReplyStream, LlmError> {
        let Some(call) = ReportedCall::begin(&self.name, &request) else {
            return self.client.stream(request).await;
        };

        match call.during(self.client.stream(request)).await {
            Ok(reply) => Ok(report_end(reply, call)),
            Err(error) => {
                call.end(Err(&error));
                Err(error)
            }
        }
    }

    fn capabilities(&self) -> Capabilities {
        self.client.capabilities()
    }
}

/// Reports the end of a stream when it is read.
fn report_end(reply: ReplyStream, call: ReportedCall) -> ReplyStream {
    let state = (reply, Some(call));

    ReplyStream::new(stream::unfold(state, async |(mut reply, mut call)| {
        let delta = match &call {
            Some(call) => call.during(reply.next()).await?,
            None => reply.next().await?,
        };

        let end = match &delta {
            Ok(Delta::End(response)) => Some(Ok(response)),
            Ok(_) => None,
            Err(error) => Some(Err(error)),
        };
        if let Some(result) = end
            && let Some(call) = call.take()
        {
            call.end(result);
        }

        Some((delta, (reply, call)))
    }))
}
