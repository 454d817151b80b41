mod calls;

use std::sync::Arc;

use async_trait::async_trait;
use cogwork_llm::{
    Capabilities, ChatRequest, ChatResponse, Delta, LlmClient, LlmError, Message, ReplyStream, Role,
};
use cogwork_typed::ask::{Meter, Spent};
use futures_util::stream;

use crate::answer::{Effect, Finished, respond};
use crate::closing::Closing;
use crate::ledger::{Ledger, Metered};
use crate::memory::recalled;
use crate::moment::{said, with_input, without_calls};
use crate::run;
use crate::setup::Setup;
use crate::{
    Found, Generation, Hook, Hooks, Moment, OnFailure, Payload, Recall, RecallStage, ThinkingMode,
};

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
    modes: &'a [Arc<dyn ThinkingMode>],
    closing: Closing,
    /// The number of further drafts that hooks may request.
    tries: u32,
    /// With the changes of the `before` hooks.
    request: ChatRequest,
    /// As sent by the program.
    input: Payload,
    /// With the metadata of the `before` hooks.
    payload: Payload,
    found: Vec<Found>,
}

impl<'a> Generating<'a> {
    pub(crate) async fn begin(
        setup: &'a Setup,
        client: &'a dyn LlmClient,
        meter: &Meter,
        request: ChatRequest,
    ) -> Result<Self, LlmError> {
        let last = request
            .messages()
            .iter()
            .rfind(|message| message.role() == Role::User);
        let none = Message::user("");
        let input = Payload::of_message(last.unwrap_or(&none));
        let hooks = Meter::new(setup.limits, Spent::default());
        let closing = Closing {
            ledger: Arc::new(Ledger::new(meter, hooks)),
            memory: setup.memory.clone(),
            question: input.shared_text(),
            reporter: setup.reporter.clone(),
        };

        let mut generating = Self {
            client,
            modes: &setup.modes,
            closing,
            tries: setup.tries,
            payload: input.clone(),
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
        self.closing.failed(error)
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
        let finished = match self.after(draft).await {
            Ok(finished) => finished,
            Err(error) => return Err(self.fail(error)),
        };

        let payload = finished.payload.clone();
        let (response, report) = self.closing.done(respond(finished)).await;
        Ok(Generation {
            response,
            payload,
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
        let deltas = stream::unfold(Some((reply, self.closing)), |state| async move {
            let (mut reply, closing) = state?;
            match reply.next().await? {
                Ok(Delta::End(draft)) => {
                    closing.ledger.add_draft(None, draft.text().into());
                    Some((Ok(Delta::End(closing.done(draft).await.0)), None))
                }
                Err(error) => Some((Err(closing.failed(error)), None)),
                delta => Some((delta, Some((reply, closing)))),
            }
        });

        Ok(ReplyStream::new(deltas))
    }

    async fn recall(&mut self) {
        let Some(memory) = &self.closing.memory else {
            return;
        };

        let has = |hook| self.modes.iter().any(|mode| mode.hooks().has(hook));
        let is_read = memory.is_read_at(RecallStage::Generation)
            || memory.is_read_at(RecallStage::Before) && has(Hook::Before)
            || memory.is_read_at(RecallStage::After) && has(Hook::After);
        if !is_read || self.input.text().trim().is_empty() {
            return;
        }

        let Recall { store, settings } = memory;
        let top_k = settings.top_k.min(100);
        let search = store.search(self.input.text(), top_k, settings.threshold);
        let problem = match run::recall(&self.closing.ledger, search).await {
            Ok(mut found) => {
                // A custom store may return more than requested.
                found.truncate(top_k);
                self.closing.ledger.entries().report.memory = found.clone();
                self.found = found;
                return;
            }
            Err(problem) => problem,
        };

        self.closing
            .ledger
            .entries()
            .report
            .memory_failures
            .push(problem);
    }

    async fn before(&mut self) -> Result<(), LlmError> {
        let is_input_last = self
            .request
            .messages()
            .last()
            .is_some_and(|last| last.role() == Role::User);

        let modes = self
            .modes
            .iter()
            .filter(|mode| is_input_last && mode.hooks().has(Hook::Before));
        let mut payload = self.payload.clone();
        for mode in modes {
            let effect = self.call(mode.as_ref(), Hook::Before, &payload, 0).await?;
            if let Effect::Changed(change) = effect {
                payload = change.payload;
            }

            // The next hook sees the conversation as it would be sent.
            self.take(&payload);
        }

        let asked = self
            .request
            .messages()
            .iter()
            .rfind(|message| message.role() == Role::User);

        if let (Some(found), Some(asked)) = (recalled(self.read_at(RecallStage::Generation)), asked)
        {
            let asked = Payload::of_message(asked).appended(&found);
            let messages = with_input(self.request.messages(), &asked);
            self.request = self.request.clone().with_messages(messages);
        }

        Ok(())
    }

    fn take(&mut self, payload: &Payload) {
        if payload.text() != self.payload.text() || payload.blocks() != self.payload.blocks() {
            let messages = with_input(self.request.messages(), payload);
            self.request = self.request.clone().with_messages(messages);
        }
        self.payload = payload.clone();
    }

    fn read_at(&self, stage: RecallStage) -> &[Found] {
        match &self.closing.memory {
            Some(memory) if memory.is_read_at(stage) => &self.found,
            _ => &[],
        }
    }

    /// Calls the hooks after the generation, on further drafts if necessary.
    async fn after(&mut self, mut draft: ChatResponse) -> Result<Finished, LlmError> {
        let mut tries_left = self.tries;
        'drafts: loop {
            self.closing.ledger.add_draft(None, draft.text().into());
            let mut payload = Payload::of_response(&draft, self.payload.metadata().clone());
            let mut is_replaced = false;

            for mode in self.modes {
                if !works_on(mode.hooks(), &payload) {
                    continue;
                }

                let effect = self.call(mode.as_ref(), Hook::After, &payload, tries_left);
                match effect.await? {
                    Effect::Kept => {}
                    Effect::Changed(change) => {
                        payload = change.payload;
                        is_replaced |= change.is_replaced;
                    }
                    Effect::Again(messages) => {
                        tries_left -= 1;
                        let further = self.another(mode.as_ref(), &payload, messages).await?;
                        if let Some(further) = further {
                            draft = further;
                            continue 'drafts;
                        }
                    }
                }
            }

            return Ok(Finished {
                draft,
                payload,
                is_replaced,
            });
        }
    }

    /// Returns a further draft, or `None` if the call failed and the mode keeps the current one.
    async fn another(
        &mut self,
        mode: &dyn ThinkingMode,
        payload: &Payload,
        messages: Vec<Message>,
    ) -> Result<Option<ChatResponse>, LlmError> {
        let mut conversation = self.request.messages().clone();
        conversation.extend(said(payload).into_iter().chain(messages));
        let request = without_calls(self.request.clone().with_messages(conversation));
        let input = &self.input;
        let ledger = &self.closing.ledger;
        let moment = self.moment(mode, Hook::After, input);
        let outcome = run::within(ledger, moment.ask(request.clone())).await;
        let error = match outcome {
            Ok(Ok(draft)) => {
                ledger.settle(None);
                self.request = request;
                return Ok(Some(draft));
            }
            Ok(Err(error)) | Err(error) => error,
        };

        ledger.settle(Some(format!("no further draft: {error}")));
        match mode.on_failure() {
            OnFailure::Fail => Err(error.into_llm_error(mode.name(), Hook::After)),
            OnFailure::Keep | OnFailure::TryAgain => Ok(None),
        }
    }

    fn moment<'b>(
        &'b self,
        mode: &'b dyn ThinkingMode,
        hook: Hook,
        input: &'b Payload,
    ) -> Moment<'b> {
        let (stage, in_request) = match hook {
            Hook::Before => (RecallStage::Before, false),
            Hook::After => (
                RecallStage::After,
                !self.read_at(RecallStage::Generation).is_empty(),
            ),
        };
        Moment {
            client: Metered {
                client: self.client,
                ledger: self.closing.ledger.clone(),
                by_hook: true,
            },
            request: &self.request,
            input,
            memory: self.read_at(stage),
            memory_is_in_request: in_request,
            hook,
            mode: mode.name(),
            on_failure: mode.on_failure(),
        }
    }
}

/// Returns whether the `after` hook is called on this draft.
fn works_on(hooks: Hooks, draft: &Payload) -> bool {
    hooks.has(Hook::After) && (draft.tool_calls().is_empty() || hooks.sees_tool_calls())
}

#[async_trait]
impl LlmClient for Generating<'_> {
    async fn complete(&self, request: ChatRequest) -> Result<ChatResponse, LlmError> {
        self.counted().complete(request).await
    }

    async fn stream(&self, request: ChatRequest) -> Result<ReplyStream, LlmError> {
        self.counted().stream(request).await
    }

    fn capabilities(&self) -> Capabilities {
        self.client.capabilities()
    }
}

impl Generating<'_> {
    fn counted(&self) -> Metered<'_> {
        Metered {
            client: self.client,
            ledger: self.closing.ledger.clone(),
            by_hook: false,
        }
    }
}
