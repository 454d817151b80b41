//! A client whose errors contain no values from the environment.

use std::error::Error;
use std::fmt;
use std::iter::successors;
use std::sync::{Arc, OnceLock};

use cogwork_llm::{
    Capabilities, ChatRequest, ChatResponse, LlmClient, LlmError, ReplyStream, async_trait,
};
use futures_util::StreamExt;

use crate::yaml::Secrets;

/// The maximum number of sources of an error that are kept.
const MAX_SOURCES: usize = 16;

/// The secrets of a flow. They are set once the whole flow is loaded, which is after its clients
/// have been created.
#[derive(Clone, Default)]
pub(super) struct LoadedSecrets(Arc<OnceLock<Arc<Secrets>>>);

impl LoadedSecrets {
    pub(super) fn set(&self, secrets: Arc<Secrets>) {
        self.0.get_or_init(|| secrets);
    }

    /// Hides secrets in a text.
    #[cfg(feature = "mcp")]
    pub(super) fn hide(&self, text: String) -> String {
        match self.0.get() {
            Some(secrets) => secrets.hide(&text),
            None => text,
        }
    }

    fn mask(&self, error: LlmError) -> LlmError {
        match self.0.get() {
            Some(secrets) => masked(error, secrets),
            None => error,
        }
    }
}

/// Hides secrets in the errors of a client. A server may repeat the key or the prompt that it was
/// sent, and journals, events and traces contain the texts of errors.
pub(super) struct MaskedClient {
    client: Arc<dyn LlmClient>,
    secrets: LoadedSecrets,
}

impl MaskedClient {
    pub(super) fn new(client: Arc<dyn LlmClient>, secrets: LoadedSecrets) -> Self {
        Self { client, secrets }
    }
}

#[async_trait]
impl LlmClient for MaskedClient {
    async fn complete(&self, request: ChatRequest) -> Result<ChatResponse, LlmError> {
        let response = self.client.complete(request).await;
        response.map_err(|error| self.secrets.mask(error))
    }

    async fn stream(&self, request: ChatRequest) -> Result<ReplyStream, LlmError> {
        let reply = self.client.stream(request).await;
        let reply = reply.map_err(|error| self.secrets.mask(error))?;

        let secrets = self.secrets.clone();
        Ok(ReplyStream::new(reply.map(move |delta| {
            delta.map_err(|error| secrets.mask(error))
        })))
    }

    fn capabilities(&self) -> Capabilities {
        self.client.capabilities()
    }
}

/// Returns the error with all secrets hidden. An error without secrets is returned as it is, with
/// sources that can be downcast.
fn masked(error: LlmError, secrets: &Secrets) -> LlmError {
    let sources = sources(&error);
    if !has_secrets(&error, &sources, secrets) {
        return error;
    }

    let mut masked =
        LlmError::new(error.kind(), secrets.hide(error.message())).with_attempts(error.attempts());

    if let Some(status) = error.status() {
        masked = masked.with_status(status);
    }
    if let Some(wait) = error.retry_after() {
        masked = masked.with_retry_after(wait);
    }
    if let Some(body) = error.body() {
        masked = masked.with_body(secrets.hide(body));
    }
    if let Some(text) = error.text_so_far() {
        masked = masked.with_text_so_far(text);
    }
    if let Some(id) = error.request_id() {
        masked = masked.with_request_id(secrets.hide(id));
    }

    let source = sources.into_iter().rev().fold(None, |source, text| {
        let text = secrets.hide(&text);
        Some(Box::new(MaskedSource { text, source }))
    });
    match source {
        Some(source) => masked.with_source(source),
        None => masked,
    }
}

fn has_secrets(error: &LlmError, sources: &[String], secrets: &Secrets) -> bool {
    let texts = [Some(error.message()), error.body(), error.request_id()];
    let texts = texts.into_iter().flatten();
    let mut texts = texts.chain(sources.iter().map(String::as_str));

    texts.any(|text| secrets.hide(text) != text)
}

/// Returns the texts of the sources, the nearest first.
fn sources(error: &LlmError) -> Vec<String> {
    successors(error.source(), |&source| source.source())
        .take(MAX_SOURCES)
        .map(ToString::to_string)
        .collect()
}

/// The source of an error, as text.
#[derive(Debug)]
struct MaskedSource {
    text: String,
    source: Option<Box<MaskedSource>>,
}

impl fmt::Display for MaskedSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Error for MaskedSource {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.as_deref().map(|source| source as _)
    }
}
