use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use cogwork_llm::backend::Capabilities;
use cogwork_llm::{ChatRequest, ChatResponse, LlmClient, LlmError, ReplyStream};
use cogwork_typed::ask::{Limits, Meter};

use crate::memory::Recall;
use crate::{Generating, Generation, Hook, ThinkingMode};

/// A client with hooks before and after each generation of another client.
///
/// The hooks of its modes are called in the order in which the modes were added: first all hooks
/// before the generation, then all hooks after it, on the draft. Each receives the result of the
/// previous one. A draft with tool calls isn't an answer yet, and is returned as it is.
///
/// Without modes and memory, or with modes that keep everything, requests and replies are
/// unchanged. The usage of a response is the sum over all calls that led to it.
///
/// **Streams.** If no mode has a hook after the generation, a reply is streamed. Otherwise it is
/// emitted as one piece at the end, because a hook may still replace the draft. Take this into
/// account if a [`Timeout`](cogwork_llm::layers::Timeout) outside limits the time until the first piece.
///
/// Put a [`Retry`](cogwork_llm::layers::Retry) or a [`Timeout`](cogwork_llm::layers::Timeout) inside, so that it
/// applies to each call, and a [`Cache`](cogwork_llm::layers::Cache) outside. A
/// [`Budget`](cogwork_llm::layers::Budget) calculates the correct cost only inside: outside, all tokens
/// appear to belong to one model.
///
/// A call may be dropped at any `await`. In that case, the memory doesn't change.
///
/// See the [crate documentation](crate) for an example.
#[derive(Clone)]
pub struct Thinking {
    client: Arc<dyn LlmClient>,
    setup: Arc<Setup>,
}

/// The settings of a [`Thinking`].
#[derive(Clone)]
pub(crate) struct Setup {
    modes: Vec<Arc<dyn ThinkingMode>>,
    pub(crate) memory: Option<Recall>,
    pub(crate) limits: Limits,
}

impl Setup {
    pub(crate) fn modes_with(&self, hook: Hook) -> impl Iterator<Item = &dyn ThinkingMode> {
        let modes = self.modes.iter().map(AsRef::as_ref);
        modes.filter(move |mode: &&dyn ThinkingMode| mode.hooks().contains(&hook))
    }
}

impl Thinking {
    /// Wraps `client` without modes.
    pub fn new(client: impl LlmClient + 'static) -> Self {
        Self {
            client: Arc::new(client),
            setup: Arc::new(Setup {
                modes: Vec::new(),
                memory: None,
                // Enough for every built-in mode, and an end for one that never stops asking.
                limits: Limits::default()
                    .with_calls(32)
                    .with_time(Duration::from_secs(300)),
            }),
        }
    }

    /// Adds a mode after the existing ones.
    #[must_use]
    pub fn with_mode(mut self, mode: impl ThinkingMode + 'static) -> Self {
        self.setup_mut().modes.push(Arc::new(mode));
        self
    }

    /// Sets the memory, which is searched once per generation. None by default.
    #[must_use]
    pub fn with_memory(mut self, memory: impl Into<Recall>) -> Self {
        self.setup_mut().memory = Some(memory.into());
        self
    }

    /// Sets the limits that apply to all hooks of a generation together: the calls, which include
    /// further drafts, and the time, which includes the memory but not the first draft. The default
    /// is 32 calls and 5 minutes.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.setup_mut().limits = limits.or(self.setup.limits);
        self
    }

    /// Returns the client inside.
    pub fn client(&self) -> &dyn LlmClient {
        &*self.client
    }

    fn setup_mut(&mut self) -> &mut Setup {
        Arc::make_mut(&mut self.setup)
    }

    /// Returns the response of [`complete`](LlmClient::complete) with a [report](crate::Report) on the
    /// hooks.
    ///
    /// # Errors
    ///
    /// Returns the error of the client, or an error if a mode refuses the request or the answer.
    pub async fn generate(&self, request: ChatRequest) -> Result<Generation, LlmError> {
        let generating = self.begin(&Meter::default(), request).await?;
        generating.complete(false).await
    }

    /// Begins a generation: searches the memory and calls the hooks before it. The program then
    /// calls the model, as often as its tools require, and [ends](Generating::end) the generation
    /// with the draft. `meter` counts the calls of the hooks; the program counts its own with it.
    ///
    /// # Errors
    ///
    /// Returns an error if a mode refuses the request.
    pub async fn begin(&self, meter: &Meter, request: ChatRequest) -> Result<Generating, LlmError> {
        Generating::begin(&self.client, &self.setup, meter, request).await
    }
}

#[async_trait]
impl LlmClient for Thinking {
    /// # Errors
    ///
    /// Returns the errors of [`generate`](Thinking::generate).
    async fn complete(&self, request: ChatRequest) -> Result<ChatResponse, LlmError> {
        Ok(self.generate(request).await?.response)
    }

    /// # Errors
    ///
    /// Returns the errors of [`generate`](Thinking::generate). Later errors are returned by the
    /// stream.
    async fn stream(&self, request: ChatRequest) -> Result<ReplyStream, LlmError> {
        let generating = self.begin(&Meter::default(), request).await?;
        if self.setup.modes_with(Hook::After).next().is_some() {
            // Streamed as well, because a client inside may have limits only for streams.
            return Ok(generating.complete(true).await?.response.into());
        }

        generating.into_stream().await
    }

    fn capabilities(&self) -> Capabilities {
        self.client.capabilities()
    }
}

impl fmt::Debug for Thinking {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let modes: Vec<_> = self.setup.modes.iter().map(|mode| mode.name()).collect();
        f.debug_struct("Thinking")
            .field("modes", &modes)
            .finish_non_exhaustive()
    }
}
