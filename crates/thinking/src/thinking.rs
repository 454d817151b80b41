use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use cogwork_llm::{Capabilities, ChatRequest, ChatResponse, LlmClient, LlmError, ReplyStream};
use serde_json::{Map, Value};

use crate::{Generating, Generation, Hook, ModeLimits, Recall, Report, ThinkingMode};

/// A client that thinks before and after each generation of another one.
///
/// The hooks of its modes are called in the order in which the modes were added: first all those before
/// the generation, then, on the draft, all those after it. Each sees what the one before it has left. A
/// draft that asks for calls of tools is no answer yet and is left alone, unless a mode
/// [wants it](crate::Hooks::and_tool_calls).
///
/// Without modes and memory, and with modes that keep everything, requests and replies are the same as
/// without it. The usage of a response is the sum over all calls that led to it.
///
/// **Streams.** While no mode has a hook after the generation, a streamed reply flows through. With one,
/// nothing is shown of the draft, because the answer may be another: the reply comes as one piece when it
/// stands. Mind this where a [`Timeout`](cogwork_llm::Timeout) outside limits the first piece.
///
/// Put a [`Retry`](cogwork_llm::Retry) or a [`Timeout`](cogwork_llm::Timeout) inside, so that each call has
/// its own, and a [`Cache`](cogwork_llm::Cache) outside. Prices of a [`Budget`](cogwork_llm::Budget) are right
/// inside only: outside, all tokens seem to be of one model.
///
/// A call may be dropped at any `await`: then there is no report, and the memory is as it was.
///
/// See the [front page](crate) for an example.
#[derive(Clone)]
pub struct Thinking<C> {
    client: C,
    pub(crate) modes: Vec<Arc<dyn ThinkingMode>>,
    pub(crate) memory: Option<Recall>,
    pub(crate) limits: ModeLimits,
    pub(crate) metadata: Map<String, Value>,
    pub(crate) reporter: Option<Reporter>,
}

pub(crate) type Reporter = Arc<dyn Fn(&Report) + Send + Sync>;

impl<C> Thinking<C> {
    /// `client`, without any thinking so far.
    pub fn new(client: C) -> Self {
        let modes = Vec::new();
        let metadata = Map::new();
        Self {
            client,
            modes,
            memory: None,
            limits: ModeLimits::default(),
            metadata,
            reporter: None,
        }
    }

    /// Adds a mode behind the ones there are.
    #[must_use]
    pub fn with_mode(mut self, mode: impl ThinkingMode + 'static) -> Self {
        self.modes.push(Arc::new(mode));
        self
    }

    /// The memory that is searched once a generation. Unset: none.
    #[must_use]
    pub fn with_memory(mut self, memory: impl Into<Recall>) -> Self {
        self.memory = Some(memory.into());
        self
    }

    /// What the hooks of a generation may take. Default: that of [`ModeLimits`].
    #[must_use]
    pub fn with_limits(mut self, limits: ModeLimits) -> Self {
        self.limits = limits;
        self
    }

    /// The [metadata](crate::Payload::metadata) with which each generation begins. Unset: none.
    #[must_use]
    pub fn with_metadata(mut self, metadata: Map<String, Value>) -> Self {
        self.metadata = metadata;
        self
    }

    /// Shows the report of each generation to `look`, of those that fail too. One that is given up has none.
    /// Unset: nobody looks; [`generate`](Self::generate) gives the report as well.
    #[must_use]
    pub fn with_reporter(mut self, look: impl Fn(&Report) + Send + Sync + 'static) -> Self {
        self.reporter = Some(Arc::new(look));
        self
    }

    /// The client around which the thinking is.
    pub fn client(&self) -> &C {
        &self.client
    }

    pub(crate) fn has(&self, hook: Hook) -> bool {
        self.modes.iter().any(|mode| mode.hooks().has(hook))
    }
}

impl<C: LlmClient> Thinking<C> {
    /// As [`complete`](LlmClient::complete), with the report.
    ///
    /// # Errors
    ///
    /// Those of the client; and that of a mode that refuses, or fails under [`OnFailure::Fail`](crate::OnFailure).
    pub async fn generate(&self, request: ChatRequest) -> Result<Generation, LlmError> {
        let generating = self.begin(request).await?;
        let draft = generating.complete(generating.request().clone()).await;
        generating.end_with(draft).await
    }

    /// Begins a generation: searches the memory and calls the hooks before it. The program makes the calls
    /// of the model itself, as many as its tools want, and [ends](Generating::end) the generation with the
    /// draft.
    ///
    /// # Errors
    ///
    /// That of a mode that refuses, or fails under [`OnFailure::Fail`](crate::OnFailure).
    pub async fn begin(&self, request: ChatRequest) -> Result<Generating<'_>, LlmError> {
        Generating::begin(self, &self.client, request).await
    }
}

#[async_trait]
impl<C: LlmClient> LlmClient for Thinking<C> {
    /// # Errors
    ///
    /// As of [`generate`](Thinking::generate).
    async fn complete(&self, request: ChatRequest) -> Result<ChatResponse, LlmError> {
        Ok(self.generate(request).await?.response)
    }

    /// # Errors
    ///
    /// As of [`generate`](Thinking::generate); later ones come through the stream.
    async fn stream(&self, request: ChatRequest) -> Result<ReplyStream, LlmError> {
        let generating = self.begin(request).await?;
        if self.has(Hook::After) {
            // By a stream all the same: a client inside may have limits on streams alone.
            let draft = async {
                generating
                    .stream(generating.request().clone())
                    .await?
                    .collect()
                    .await
            };

            let draft = draft.await;
            return Ok(generating.end_with(draft).await?.response.into());
        }

        generating.flow().await
    }

    fn capabilities(&self) -> Capabilities {
        self.client.capabilities()
    }
}

impl<C: fmt::Debug> fmt::Debug for Thinking<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let modes: Vec<_> = self.modes.iter().map(|mode| mode.name()).collect();
        f.debug_struct("Thinking")
            .field("client", &self.client)
            .field("modes", &modes)
            .finish_non_exhaustive()
    }
}
