use std::sync::Arc;

use async_trait::async_trait;
use cogwork_llm::{
    Capabilities, ChatRequest, ChatResponse, Delta, LlmClient, LlmError, LlmErrorKind, Message,
    ReplyStream, Role,
};
use cogwork_text::{Name, OneLine};
use futures_util::stream;
use serde_json::Map;

use crate::answer::{Done, replaced, respond};
use crate::closing::Closing;
use crate::ledger::Metered;
use crate::memory::recalled;
use crate::moment::{said, with_input, without_calls};
use crate::run;
use crate::setup::Setup;
use crate::{
    Found, Generation, Hook, HookOutcome, ModeLimits, Moment, OnFailure, Outcome, Payload, Recall,
    RecallStage, ThinkingError, ThinkingMode,
};

/// A generation whose hooks before the model have been called.
///
/// For programs that call tools between the first call and the draft: hooks and memory then see one
/// generation rather than one per call. Make the calls with this type, which is a client itself, so
/// that they are counted and their usage is included.
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
/// assert_eq!(generation.report.calls, 3);
/// # Ok(())
/// # }
/// ```
pub struct Generating<'a> {
    client: &'a dyn LlmClient,
    modes: &'a [Arc<dyn ThinkingMode>],
    closing: Closing,
    limits: ModeLimits,
    /// With the changes of the hooks before.
    request: ChatRequest,
    /// As sent by the program.
    input: Payload,
    /// With the metadata of the hooks before.
    payload: Payload,
    found: Vec<Found>,
}

impl<'a> Generating<'a> {
    pub(crate) async fn begin(
        setup: &'a Setup,
        client: &'a dyn LlmClient,
        request: ChatRequest,
    ) -> Result<Self, LlmError> {
        let last = request
            .messages()
            .iter()
            .rfind(|message| message.role() == Role::User);
        let none = Message::user("");
        let input = Payload::of_message(last.unwrap_or(&none), setup.metadata.clone());
        let limits = setup.limits;
        let closing = Closing::new(
            limits,
            setup.memory.clone(),
            input.shared_text(),
            setup.reporter.clone(),
        );

        let mut generating = Self {
            client,
            modes: &setup.modes,
            closing,
            limits,
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

    /// Ends the generation with an error, which the report contains. Dropping the generation
    /// creates no report.
    pub fn fail(self, error: LlmError) -> LlmError {
        self.closing.failed(error)
    }

    /// Calls the hooks after the generation on `draft`, the reply to `request`.
    ///
    /// # Errors
    ///
    /// Returns an error if a mode refuses the answer, or fails under [`OnFailure::Fail`].
    pub async fn end(
        mut self,
        request: ChatRequest,
        draft: ChatResponse,
    ) -> Result<Generation, LlmError> {
        self.closing.ledger.count_foreign(&draft);
        self.request = request;
        match self.after(draft).await {
            Ok((draft, payload, is_replaced)) => {
                let response = respond(draft, &payload, is_replaced);
                let (response, report) = self.closing.done(response).await;
                Ok(Generation {
                    response,
                    payload,
                    report,
                })
            }
            Err(error) => Err(self.fail(error)),
        }
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
        let problem = match run::recall(&self.closing.ledger, self.limits.time, search).await {
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
            if let Done::Changed {
                payload: changed, ..
            } = self
                .call(mode.as_ref(), Hook::Before, &payload, false)
                .await?
            {
                payload = changed;
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
            let asked = Payload::of_message(asked, Map::new()).appended(&found);
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
    async fn after(
        &mut self,
        mut draft: ChatResponse,
    ) -> Result<(ChatResponse, Payload, bool), LlmError> {
        let mut tries = 0;
        'drafts: loop {
            self.closing.ledger.add_draft(None, draft.text().into());
            let mut payload = Payload::of_response(&draft, self.payload.metadata().clone());
            let mut is_replaced = false;

            for mode in self.modes {
                let hooks = mode.hooks();
                if !hooks.has(Hook::After)
                    || !(payload.tool_calls().is_empty() || hooks.sees_tool_calls())
                {
                    continue;
                }

                match self
                    .call(
                        mode.as_ref(),
                        Hook::After,
                        &payload,
                        tries < self.limits.tries,
                    )
                    .await?
                {
                    Done::Kept => {}
                    Done::Changed {
                        payload: changed,
                        replaced,
                    } => {
                        payload = changed;
                        is_replaced |= replaced;
                    }
                    Done::Again(messages) => {
                        tries += 1;
                        if let Some(better) =
                            self.another(mode.as_ref(), &payload, messages).await?
                        {
                            draft = better;
                            continue 'drafts;
                        }
                    }
                }
            }

            return Ok((draft, payload, is_replaced));
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
        let outcome = run::within(ledger, self.limits.time, moment.ask(request.clone())).await;
        let error = match outcome {
            Ok(Ok(draft)) => {
                ledger.settle(None);
                self.request = request;
                return Ok(Some(draft));
            }
            Ok(Err(error)) | Err(error) => error,
        };

        ledger.settle(Some(format!("no other draft: {error}")));
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
            limits: self.limits,
        }
    }

    /// Calls a hook and returns the effect of its outcome or its failure.
    async fn call(
        &self,
        mode: &dyn ThinkingMode,
        hook: Hook,
        payload: &Payload,
        may_try: bool,
    ) -> Result<Done, LlmError> {
        let ledger = &self.closing.ledger;
        let moment = self.moment(mode, hook, &self.input);
        ledger.open();
        let verdict = match run::hook(mode, &moment, payload).await {
            Ok(HookOutcome::TryAgain(_)) if hook == Hook::Before => {
                let message = "it asked for another draft before there was one";
                Err(ThinkingError::Misplaced(message.to_owned()))
            }
            Ok(HookOutcome::TryAgain(_)) if !may_try => {
                let message = format!(
                    "it asked for another draft; expected at most {}",
                    self.limits.tries
                );
                Err(ThinkingError::Misplaced(message))
            }
            verdict => verdict,
        };

        let (done, outcome) = match verdict {
            Ok(HookOutcome::Keep) => (Done::Kept, Outcome::Kept),
            Ok(HookOutcome::ReplaceText(text)) => {
                replaced(payload, payload.clone().with_text(text))
            }
            Ok(HookOutcome::Replace(whole)) => replaced(payload, whole),
            Ok(HookOutcome::Append(text)) if text.is_empty() => (Done::Kept, Outcome::Kept),
            Ok(HookOutcome::Append(text)) => {
                let payload = payload.clone().appended(&text);
                (
                    Done::Changed {
                        payload,
                        replaced: false,
                    },
                    Outcome::Appended,
                )
            }
            Ok(HookOutcome::TryAgain(messages)) => (Done::Again(messages), Outcome::TriedAgain),
            Ok(HookOutcome::Fail(reason)) => {
                ledger.close(mode.name(), hook, Outcome::Refused(reason.clone()));
                let name = Name(mode.name());
                let reason = OneLine::new(&reason).with_max_chars(500);
                let message = format!(
                    "the thinking mode `{name}` refused {}: {reason}",
                    match hook {
                        Hook::Before => "the request",
                        Hook::After => "the answer",
                    }
                );

                return Err(LlmError::new(LlmErrorKind::Other, message));
            }
            Err(error) => {
                let standing = ledger.close(mode.name(), hook, Outcome::Failed(error.to_string()));
                return match (mode.on_failure(), standing) {
                    (OnFailure::Fail, _) => Err(error.into_llm_error(mode.name(), hook)),
                    (_, Some(standing)) => Ok(replaced(payload, standing).0),
                    (_, None) => Ok(Done::Kept),
                };
            }
        };

        ledger.close(mode.name(), hook, outcome);
        Ok(done)
    }
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
