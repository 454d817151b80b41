//! Clients and tools whose errors contain no values from the environment.

use std::error::Error;
use std::iter::successors;
use std::sync::{Arc, OnceLock};

#[cfg(feature = "mcp")]
use cogwork_llm::ToolDefinition;
use cogwork_llm::{
    Capabilities, ChatRequest, ChatResponse, LlmClient, LlmError, ReplyStream, async_trait,
};
#[cfg(feature = "mcp")]
use cogwork_tools::{Tool, ToolError};
use futures_util::StreamExt;

use crate::yaml::Secrets;

/// The maximum number of sources of an error that are kept.
const MAX_SOURCES: usize = 16;

/// The secrets of a flow. They are set once the whole flow is loaded, which is after its clients
/// have been created.
#[derive(Debug, Clone, Default)]
pub(crate) struct LoadedSecrets(Arc<OnceLock<Arc<Secrets>>>);

impl LoadedSecrets {
    pub(super) fn set(&self, secrets: Arc<Secrets>) {
        self.0.get_or_init(|| secrets);
    }

    /// Hides secrets in a text.
    pub(crate) fn hide(&self, text: &str) -> String {
        match self.0.get() {
            Some(secrets) => secrets.hide(text),
            None => text.to_owned(),
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
    let source = sources(&error);
    let is_secret = |text: &str| secrets.hide(text) != text;
    let has_secrets = is_secret(error.message())
        || is_secret(&source)
        || error.body().is_some_and(is_secret)
        || error.request_id().is_some_and(is_secret);
    if !has_secrets {
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

    match source.as_str() {
        "" => masked,
        source => masked.with_source(secrets.hide(source)),
    }
}

/// Returns the texts of the sources, the nearest first.
fn sources(error: &LlmError) -> String {
    let sources: Vec<_> = successors(error.source(), |&source| source.source())
        .take(MAX_SOURCES)
        .map(ToString::to_string)
        .collect();

    sources.join(": ")
}

/// A tool whose errors contain no values from the environment.
#[cfg(feature = "mcp")]
pub(super) struct MaskedTool<T> {
    pub(super) tool: T,
    pub(super) secrets: LoadedSecrets,
}

#[cfg(feature = "mcp")]
impl<T> MaskedTool<T> {
    fn masked(&self, mut error: ToolError) -> ToolError {
        if let ToolError::Input { problem, .. }
        | ToolError::Failed { problem, .. }
        | ToolError::Unavailable { problem, .. } = &mut error
        {
            *problem = self.secrets.hide(problem);
        }

        error
    }
}

#[cfg(feature = "mcp")]
#[async_trait]
impl<T: Tool> Tool for MaskedTool<T> {
    fn definition(&self) -> ToolDefinition {
        self.tool.definition()
    }

    fn ready(&self) -> Result<(), ToolError> {
        self.tool.ready().map_err(|error| self.masked(error))
    }

    async fn call(&self, input: serde_json::Value) -> Result<String, ToolError> {
        let called = self.tool.call(input).await;
        called.map_err(|error| self.masked(error))
    }
}
