use std::mem;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use cogwork_llm::backend::Capabilities;
use cogwork_llm::{
    ChatRequest, ChatResponse, Delta, FinishReason, LlmClient, LlmError, LlmErrorKind, Message,
    ReplyStream, Role,
};
use cogwork_text::Name;
use cogwork_typed::ask::Meter;
use futures_util::stream;

use crate::draft::{Content, joined, with_input};
use crate::memory::{Found, recalled};
use crate::metered::{Metered, within};
use crate::record::Record;
use crate::thinking::Setup;
use crate::{Draft, Generation, Hook, HookReport, Outcome, ThinkingError, ThinkingMode};

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
    record: Record,
    request: ChatRequest,
    /// The user's last message as the program wrote it.
    input: Message,
    content: Content,
    /// The search result of the memory.
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
            record: Record::new(setup, meter, input.text()),
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
        self.record.failed(error)
    }

    /// Calls the `after` hooks on `draft`, the reply to `request`.
    ///
    /// # Errors
    ///
    /// Returns an error if a mode refuses the answer.
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

        let (response, report) = self.record.done(response).await;
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

        let deltas = stream::unfold(Some((reply, self.record)), |state| async move {
            let (mut reply, mut record) = state?;
            match reply.next().await? {
                Ok(Delta::End(draft)) => {
                    record.add_draft(None, draft.text().into());
                    Some((Ok(Delta::End(record.done(draft).await.0)), None))
                }
                Err(error) => Some((Err(record.failed(error)), None)),
                delta => Some((delta, Some((reply, record)))),
            }
        });
        Ok(ReplyStream::new(deltas))
    }

    /// Searches the memory with the user's message.
    async fn recall(&mut self) {
        let text = self.input.text();
        let Some(memory) = &self.setup.memory else {
            return;
        };
        if text.trim().is_empty() {
            return;
        }

        let settings = &memory.settings;
        let top_k = settings.top_k.min(100);
        let search = memory.store.search(text, top_k, settings.threshold);

        if let Some(mut found) = self.record.of_memory(search).await {
            // A custom store may return more than requested.
            found.truncate(top_k);
            self.record.report.memory.clone_from(&found);
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

        if let (Some(found), Some(asked)) = (recalled(&self.found), asked) {
            let messages = with_input(messages, joined(asked.text(), &found), asked.blocks());
            self.request = self.request.clone().with_messages(messages);
        }
    }

    /// Calls the hooks after the generation, unless the draft calls tools.
    async fn after(&mut self, draft: ChatResponse) -> Result<ChatResponse, LlmError> {
        self.record.add_draft(None, draft.text().into());
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
        let meter = self.record.meter();
        let mut draft = Draft {
            content: self.content.clone(),
            client: Metered {
                hook: Some(&meter),
                ..self.metered()
            },
            request: self.request.clone(),
            input: &self.input,
            memory: &self.found,
            hook,
            notes: Mutex::default(),
        };

        let called = async {
            match hook {
                Hook::Before => mode.before(&mut draft).await,
                Hook::After => mode.after(&mut draft).await,
            }
        };
        let result = within(&meter, called).await.flatten();

        let Draft {
            content,
            request,
            notes,
            ..
        } = draft;
        let notes = notes.into_inner().unwrap_or_else(PoisonError::into_inner);
        for text in notes.drafts {
            self.record.add_draft(Some(mode.name()), text);
        }

        let report = HookReport {
            mode: mode.name().to_owned(),
            hook,
            outcome: outcome(&result, &self.content, &content),
            problems: notes.problems,
            spent: self.record.add_cost(&meter),
        };
        self.record.report.hooks.push(report);
        self.content = content;
        self.request = request;

        match result {
            Err(refusal @ ThinkingError::Refused(_)) => Err(refused(mode.name(), hook, refusal)),
            _ => Ok(()),
        }
    }

    /// Returns the client, which counts its calls.
    fn metered(&self) -> Metered<'_> {
        Metered {
            client: self.client,
            calls: &self.record.calls,
            hook: None,
        }
    }
}

/// Returns the error of a generation that a mode refuses.
fn refused(mode: &str, hook: Hook, refusal: ThinkingError) -> LlmError {
    let what = match hook {
        Hook::Before => "request",
        Hook::After => "answer",
    };

    let message = format!(
        "the thinking mode `{}` refused the {what}: {refusal}",
        Name(mode)
    );
    LlmError::new(LlmErrorKind::Other, message).with_source(refusal)
}

fn outcome(result: &Result<(), ThinkingError>, before: &Content, after: &Content) -> Outcome {
    match result {
        Err(ThinkingError::Refused(reason)) => Outcome::Refused(reason.clone()),
        Err(error) => Outcome::Failed(error.to_string()),
        Ok(()) if before == after => Outcome::Kept,
        Ok(()) if is_extended(&before.text, &after.text) => Outcome::Appended,
        Ok(()) => Outcome::Replaced,
    }
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
fn is_extended(before: &str, after: &str) -> bool {
    !before.is_empty() && after.starts_with(before)
}

#[async_trait]
impl LlmClient for Generating<'_> {
    async fn complete(&self, request: ChatRequest) -> Result<ChatResponse, LlmError> {
        self.metered().complete(request).await
    }

    async fn stream(&self, request: ChatRequest) -> Result<ReplyStream, LlmError> {
        self.metered().stream(request).await
    }

    fn capabilities(&self) -> Capabilities {
        self.client.capabilities()
    }
}
