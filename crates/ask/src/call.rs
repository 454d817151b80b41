use cogwork_flow::note;
use cogwork_llm::{Capability, ChatRequest, ChatResponse, Delta, LlmClient, LlmError, LlmErrorKind};

/// Calls the model, and streams the reply if the client can.
///
/// `on_text` is called with each piece of a streamed reply. Every piece is also a
/// [note](cogwork_flow::note) of the step that is running, so that whoever watches
/// the run sees the reply grow. A client that cannot stream is called as usual, and
/// `on_text` is not called.
///
/// # Errors
///
/// Those of the client.
pub async fn call(
    client: &dyn LlmClient,
    request: ChatRequest,
    mut on_text: impl FnMut(&str) + Send,
) -> Result<ChatResponse, LlmError> {
    if !client.capabilities().has(Capability::Streaming) {
        return client.complete(request).await;
    }

    let mut reply = client.stream(request).await?;

    while let Some(delta) = reply.next().await {
        match delta? {
            Delta::Text(text) => {
                on_text(&text);
                note(|| text);
            }
            Delta::End(response) => return Ok(response),
            _ => {}
        }
    }

    // A stream ends with a response or an error, so this is a fault of the client.
    let message = "the stream ended without a response";
    Err(LlmError::new(LlmErrorKind::InterruptedStream, message))
}
