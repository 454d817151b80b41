use std::any::Any;
use std::mem;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use async_trait::async_trait;
use cogwork_llm::backend::Capabilities;
use cogwork_llm::{
    ChatRequest, ChatResponse, Delta, FinishReason, LlmClient, LlmError, Message, ReplyStream, Role,
};
use cogwork_typed::ask::Meter;
use futures_util::{FutureExt, stream};

use crate::draft::{Content, joined, with_input};
use crate::ledger::{Ledger, Metered};
use crate::memory::{Found, RecallStage, recalled};
use crate::thinking::Setup;
use crate::{Draft, Generation, Hook, OnFailure, ThinkingError, ThinkingMode};

/// A generation whose hooks before the model have been called.
///
/// Use it in programs that call tools between the first call and the draft, so that the hooks and
/// the memory are used once for the whole generation rather than once per call. Make the calls with
/// this type, which is itself a client, so that they are counted and their usage is included.
///
/// ```
/// use cogwork_llm::{ChatRequest, ChatResponse, LlmClient, LlmError, Message, ScriptedClient, ToolCall};
/// use cogwork_thinking::{Reflection, Thinking};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), LlmError> {
/// let look = ChatResponse::new("").with_tool_calls([ToolCall::new("1", "weather", "{}")]);
/// let script = ScriptedClient::default().then(look).then("It rains.").then("It rains in Bergen.");
/// let thinking = Thinking::new(script).with_mode(Reflection::new("Say where."));
///
/// let generating = thinking.begin(ChatRequest::new([Message::user("Umbrella?")])).await?;
/// let mut request = generating.request().clone();
/// let draft = loop {
///     let reply = generating.complete(request.clone()).await?;
///     if reply.tool_calls().is_empty() {
///         break reply;
///     }
///     request.push(reply.message());
///     for call in reply.tool_calls() {
///         request.push(Message::tool_result(call, "rain"));
///     }
/// };
/// let generation = generating.end(request, draft).await?;
/// assert_eq!(generation.response.text(), "It rains in Bergen.");
/// assert_eq!(generation.report.spent.calls, 3);
/// # Ok(())
/// # }
/// ```
pub struct Generating<'a> {
    client: &'a dyn LlmClient,
    setup: &'a Setup,
    ledger: Arc<Ledger>,
    request: ChatRequest,
    /// The user's last message as the program wrote it.
    input: Message,
    content: Content,
    found: Vec<Found>,
}

impl<'a> Generating<'a> {
    pub(crate) async fn begin(
        setup: &'a Arc<Setup>,
        client: &'a dyn LlmClient,
        meter: &Meter,
        request: ChatRequest,
    ) -> Result<Self, LlmError> {
        let mut messages = request.messages().iter();
        let last = messages.rfind(|message| message.role() == Role::User);
        let input = last.cloned().unwrap_or_else(|| Message::user(""));

        let mut generating = Self {
            client,
            setup,
            ledger: Arc::new(Ledger::new(setup, meter, input.text())),
            content: Content {
                text: input.text().into(),
                blocks: input.blocks().to_vec(),
                ..Content::default()
            },
            request,
            input,
            found: Vec::new(),
        };

        generating.recall().await;
        match generating.before().await {
            Ok(()) => Ok(generating),
            Err(error) => Err(generating.fail(error)),
        }
    }

    /// Returns the request for the model, with the changes of the hooks.
    pub fn request(&self) -> &ChatRequest {
        &self.request
    }

    /// Ends the generation with an error, which is included in the report. If the generation is
    /// dropped instead, no report is created.
    pub fn fail(self, error: LlmError) -> LlmError {
        self.ledger.failed(error)
    }

    /// Calls the `after` hooks on `draft`, the reply to `request`.
    ///
    /// # Errors
    ///
    /// Returns an error if a mode refuses the answer, or if a mode with [`OnFailure::Fail`] fails.
    pub async fn end(
        mut self,
        request: ChatRequest,
        draft: ChatResponse,
    ) -> Result<Generation, LlmError> {
        self.request = request;
        let response = match self.after(draft).await {
            Ok(response) => response,
            Err(error) => return Err(self.fail(error)),
        };

        let (response, report) = self.ledger.done(response).await;
        Ok(Generation {
            response,
            blocks: self.content.blocks,
            metadata: self.content.metadata,
            report,
        })
    }

    /// Ends the generation with the reply to its request, or with the error.
    pub(crate) async fn end_with(
        self,
        draft: Result<ChatResponse, LlmError>,
    ) -> Result<Generation, LlmError> {
        let request = self.request.clone();
        match draft {
            Ok(draft) => self.end(request, draft).await,
            Err(error) => Err(self.fail(error)),
        }
    }

    /// Streams the reply without calling hooks after it.
    pub(crate) async fn flow(self) -> Result<ReplyStream, LlmError> {
        let reply = match self.stream(self.request.clone()).await {
            Ok(reply) => reply,
            Err(error) => return Err(self.fail(error)),
        };

        let deltas = stream::unfold(Some((reply, self.ledger)), |state| async move {
            let (mut reply, ledger) = state?;
            match reply.next().await? {
                Ok(Delta::End(draft)) => {
                    ledger.add_draft(None, draft.text().into());
                    Some((Ok(Delta::End(ledger.done(draft).await.0)), None))
                }
                Err(error) => Some((Err(ledger.failed(error)), None)),
                delta => Some((delta, Some((reply, ledger)))),
            }
        });
        Ok(ReplyStream::new(deltas))
    }

    /// Searches the memory with the user's message.
    async fn recall(&mut self) {
        let Some(memory) = &self.setup.memory else {
            return;
        };

        let is_read = memory.is_read_at(RecallStage::Generation)
            || memory.is_read_at(RecallStage::Before) && self.setup.has(Hook::Before)
            || memory.is_read_at(RecallStage::After) && self.setup.has(Hook::After);
        if !is_read || self.input.text().trim().is_empty() {
            return;
        }

        let settings = &memory.settings;
        let top_k = settings.top_k.min(100);
        let search = memory
            .store
            .search(self.input.text(), top_k, settings.threshold);

        if let Some(mut found) = self.ledger.of_memory(search).await {
            // A custom store may return more than requested.
            found.truncate(top_k);
            self.ledger.entries().report.memory = found.clone();
            self.found = found;
        }
    }

    async fn before(&mut self) -> Result<(), LlmError> {
        let last = self.request.messages().last();
        if last.is_some_and(|last| last.role() == Role::User) {
            for mode in self.setup.modes_with(Hook::Before) {
                self.call(mode, Hook::Before).await?;

                // The next hook sees the conversation as it would be sent.
                let Content { text, blocks, .. } = &self.content;
                let messages = with_input(self.request.messages(), Arc::clone(text), blocks);
                self.request = self.request.clone().with_messages(messages);
            }
        }

        self.add_memory();
        Ok(())
    }

    /// Appends the search result of the memory to the last user message.
    fn add_memory(&mut self) {
        let messages = self.request.messages();
        let asked = messages
            .iter()
            .rfind(|message| message.role() == Role::User);

        if let (Some(found), Some(asked)) = (recalled(self.read_at(RecallStage::Generation)), asked)
        {
            let messages = with_input(messages, joined(asked.text(), &found), asked.blocks());
            self.request = self.request.clone().with_messages(messages);
        }
    }

    fn read_at(&self, stage: RecallStage) -> &[Found] {
        match &self.setup.memory {
            Some(memory) if memory.is_read_at(stage) => &self.found,
            _ => &[],
        }
    }

    /// Calls the hooks after the generation, unless the draft calls tools.
    async fn after(&mut self, draft: ChatResponse) -> Result<ChatResponse, LlmError> {
        self.ledger.add_draft(None, draft.text().into());
        self.content = Content {
            text: draft.text().into(),
            blocks: Vec::new(),
            metadata: mem::take(&mut self.content.metadata),
        };

        if !draft.tool_calls().is_empty() {
            return Ok(draft);
        }
        for mode in self.setup.modes_with(Hook::After) {
            self.call(mode, Hook::After).await?;
        }

        Ok(changed(draft, &self.content.text))
    }

    /// Calls a hook on the content, and keeps its changes even if it fails.
    async fn call(&mut self, mode: &dyn ThinkingMode, hook: Hook) -> Result<(), LlmError> {
        let original = self.content.clone();
        self.ledger.open();

        let mut draft = self.draft(mode, hook, original.clone());
        let called = async {
            match hook {
                Hook::Before => mode.before(&mut draft).await,
                Hook::After => mode.after(&mut draft).await,
            }
        };

        let result = within(&self.ledger, called).await.flatten();
        let Draft {
            content, request, ..
        } = draft;
        self.ledger
            .close(mode.name(), hook, &result, &original, &content);
        self.content = content;
        self.request = request;

        match result {
            Err(error) if error.is_refusal() || mode.on_failure() == OnFailure::Fail => {
                Err(error.into_llm_error(mode.name(), hook))
            }
            _ => Ok(()),
        }
    }

    fn draft<'b>(&'b self, mode: &'b dyn ThinkingMode, hook: Hook, content: Content) -> Draft<'b> {
        let (stage, memory_is_in_request) = match hook {
            Hook::Before => (RecallStage::Before, false),
            Hook::After => (
                RecallStage::After,
                !self.read_at(RecallStage::Generation).is_empty(),
            ),
        };

        Draft {
            content,
            client: self.metered(true),
            request: self.request.clone(),
            input: &self.input,
            memory: self.read_at(stage),
            memory_is_in_request,
            hook,
            mode: mode.name(),
            on_failure: mode.on_failure(),
        }
    }

    fn metered(&self, by_hook: bool) -> Metered<'_> {
        Metered {
            client: self.client,
            ledger: Arc::clone(&self.ledger),
            by_hook,
        }
    }
}

/// Awaits `future` within the remaining time for thinking.
pub(crate) async fn within<T>(
    ledger: &Ledger,
    future: impl Future<Output = T>,
) -> Result<T, ThinkingError> {
    let _running = ledger.hooks.run();

    // A panic leaves nothing inconsistent: a draft and the ledger are changed in whole steps.
    let future = AssertUnwindSafe(future).catch_unwind();
    match ledger.hooks.limit(future).await {
        Ok(Ok(done)) => Ok(done),
        Ok(Err(panic)) => Err(ThinkingError::Panic(panic_message(panic.as_ref()))),
        Err(limit) => Err(ThinkingError::Timeout(limit)),
    }
}

fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "no message".to_owned())
}

/// Returns the draft with the text of the hooks. A truncated draft remains truncated if text was
/// appended to it, but not if it was replaced.
fn changed(draft: ChatResponse, text: &str) -> ChatResponse {
    if draft.text() == text {
        return draft;
    }

    let reason = match is_extended(draft.text(), text) {
        true => draft.finish_reason().clone(),
        false => FinishReason::Stop,
    };
    draft.with_text(text).with_finish_reason(reason)
}

/// Returns whether `after` is `before` with further text.
pub(crate) fn is_extended(before: &str, after: &str) -> bool {
    !before.is_empty() && after.starts_with(before)
}

#[async_trait]
impl LlmClient for Generating<'_> {
    async fn complete(&self, request: ChatRequest) -> Result<ChatResponse, LlmError> {
        self.metered(false).complete(request).await
    }

    async fn stream(&self, request: ChatRequest) -> Result<ReplyStream, LlmError> {
        self.metered(false).stream(request).await
    }

    fn capabilities(&self) -> Capabilities {
        self.client.capabilities()
    }
}
