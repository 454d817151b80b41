//! A client whose calls are recorded one by one in a run with a journal.

use std::sync::Arc;

use cogwork_llm::backend::Capabilities;
use cogwork_llm::{
    ChatRequest, ChatResponse, Delta, LlmClient, LlmError, LlmErrorKind, ReplyStream,
};
use cogwork_thinking::async_trait;
use cogwork_typed::ask::record_call;
use futures_util::stream;
use tokio::sync::mpsc::error::SendError;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

/// Records each response of the client inside. The hooks of an agent use it as well.
pub(super) struct RecordedClient(Arc<dyn LlmClient>);

impl RecordedClient {
    pub(super) fn new(client: impl LlmClient + 'static) -> Self {
        Self(Arc::new(client))
    }
}

#[async_trait]
impl LlmClient for RecordedClient {
    async fn complete(&self, request: ChatRequest) -> Result<ChatResponse, LlmError> {
        let question = request.clone();
        let called = record_call(&question, || self.0.complete(request));
        called.await.result
    }

    async fn stream(&self, request: ChatRequest) -> Result<ReplyStream, LlmError> {
        let (sender, mut pieces) = unbounded_channel();
        let mut call = Some(Box::pin(stream(Arc::clone(&self.0), request, sender)));

        let deltas = stream::poll_fn(move |context| {
            if let Some(running) = &mut call
                && running.as_mut().poll(context).is_ready()
            {
                call = None;
            }

            pieces.poll_recv(context)
        });
        Ok(ReplyStream::new(deltas))
    }

    fn capabilities(&self) -> Capabilities {
        self.0.capabilities()
    }
}

type Pieces = UnboundedSender<Result<Delta, LlmError>>;

/// Makes a streamed call, or returns its recorded response in the same way.
async fn stream(client: Arc<dyn LlmClient>, request: ChatRequest, pieces: Pieces) {
    let question = request.clone();
    let called = record_call(&question, || read(client, request, &pieces)).await;

    // Without a receiver, the call is about to be dropped.
    let _ = match called.result {
        Ok(response) if called.replayed.is_some() => pass_on(response, &pieces).await,
        result => pieces.send(result.map(Delta::End)),
    };
}

/// Passes the pieces of a stream on, and returns its response.
async fn read(
    client: Arc<dyn LlmClient>,
    request: ChatRequest,
    pieces: &Pieces,
) -> Result<ChatResponse, LlmError> {
    let mut reply = client.stream(request).await?;

    while let Some(delta) = reply.next().await {
        match delta? {
            Delta::End(response) => return Ok(response),
            delta => drop(pieces.send(Ok(delta))),
        }
    }

    // A stream ends with a response or an error, so this is a bug in the client.
    let message = "the stream ended without a response";
    Err(LlmError::new(LlmErrorKind::InterruptedStream, message))
}

async fn pass_on(
    response: ChatResponse,
    pieces: &Pieces,
) -> Result<(), SendError<Result<Delta, LlmError>>> {
    let mut reply = ReplyStream::from(response);
    while let Some(delta) = reply.next().await {
        pieces.send(delta)?;
    }

    Ok(())
}
