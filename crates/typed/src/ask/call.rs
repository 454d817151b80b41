use cogwork_flow::note_growth;
use cogwork_llm::{
    Capability, ChatRequest, ChatResponse, Delta, LlmClient, LlmError, LlmErrorKind, ResponseLimits,
};

/// Calls the model, and streams the reply if the client supports it.
///
/// `on_text` is called with each piece of a streamed reply. Every piece is also sent as a
/// [note](cogwork_flow::note_growth) of the current step, so that observers of the run receive the reply
/// as it grows. If the client doesn't support streaming, it is called as usual, and `on_text` is
/// not called.
///
/// # Errors
///
/// Returns the error of the client. If the text of a reply exceeds the default [`ResponseLimits`],
/// returns an error of kind [`Decode`](LlmErrorKind::Decode) and doesn't read the rest of the
/// stream.
pub async fn call(
    client: &dyn LlmClient,
    request: ChatRequest,
    mut on_text: impl FnMut(&str) + Send,
) -> Result<ChatResponse, LlmError> {
    let limits = ResponseLimits::default();

    if !client.capabilities().has(Capability::Streaming) {
        return complete(client, request).await;
    }

    let mut reply = client.stream(request).await?;
    let mut bytes = 0_usize;

    while let Some(delta) = reply.next().await {
        match delta? {
            Delta::Text(text) => {
                bytes = bytes.saturating_add(text.len());
                limits.check_text(bytes)?;

                on_text(&text);
                note_growth(|| text);
            }
            Delta::Reasoning(text) => {
                bytes = bytes.saturating_add(text.len());
                limits.check_text(bytes)?;
            }
            Delta::End(response) => return Ok(response),
            _ => {}
        }
    }

    // A stream ends with a response or an error, so this is a bug in the client.
    let message = "the stream ended without a response";
    Err(LlmError::new(LlmErrorKind::InterruptedStream, message))
}

/// Calls the model without streaming, with the same limits.
pub(crate) async fn complete(
    client: &dyn LlmClient,
    request: ChatRequest,
) -> Result<ChatResponse, LlmError> {
    let response = client.complete(request).await?;
    ResponseLimits::default().check_text(response.text().len())?;
    Ok(response)
}
