//! A client whose calls are recorded one by one in a run with a journal.

use std::fmt::Write;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use cogwork_flow::journal::{CallError, recorded};
use cogwork_llm::{
    Capabilities, ChatRequest, ChatResponse, Delta, LlmClient, LlmError, LlmErrorKind, ReplyStream,
};
use cogwork_thinking::async_trait;
use futures_util::stream;
use siphasher::sip::SipHasher13;
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
        let label = label("model", &request);
        let response = recorded(&label, || self.0.complete(request)).await;
        response.map_err(client_error)
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

/// Returns the label of a call: what is called, and a hash of its input.
///
/// A resumed visit may ask something else, for example because a hook ran into its time limit or
/// because the memory has changed. It must not get the reply to a different request then.
pub(super) fn label(what: &str, input: &impl Hash) -> String {
    // The hash is recorded, so it must not depend on the version of the standard library.
    let mut hasher = SipHasher13::new();
    input.hash(&mut hasher);

    let mut label = what.to_owned();
    let _ = write!(label, " {:016x}", hasher.finish());
    label
}

fn client_error(error: CallError<LlmError>) -> LlmError {
    match error {
        CallError::Failed(error) => error,
        CallError::Recorded(error) => LlmError::new(LlmErrorKind::Other, error),
    }
}

type Pieces = UnboundedSender<Result<Delta, LlmError>>;

/// Makes a streamed call, or returns its recorded response in the same way.
async fn stream(client: Arc<dyn LlmClient>, request: ChatRequest, pieces: Pieces) {
    let label = label("model", &request);
    let mut was_made = false;
    let response = recorded(&label, || {
        was_made = true;
        read(client, request, &pieces)
    });

    // Without a receiver, the call is about to be dropped.
    let _ = match response.await {
        Ok(response) if was_made => pieces.send(Ok(Delta::End(response))),
        Ok(response) => pass_on(response, &pieces).await,
        Err(error) => pieces.send(Err(client_error(error))),
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
