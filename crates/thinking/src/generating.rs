use std::mem;
use std::sync::Arc;

use cogwork_llm::{
    ChatRequest, ChatResponse, Delta, FinishReason, LlmClient, LlmError, LlmErrorKind, ReplyStream,
    Role,
};
use cogwork_text::Name;
use cogwork_typed::ask::Meter;
use futures_util::stream;

use crate::draft::{Content, joined};
use crate::memory::recalled;
use crate::metered::{Metered, within};
use crate::record::Record;
use crate::thinking::Setup;
use crate::{Draft, Generation, Hook, HookReport, Outcome, ThinkingError, ThinkingMode};

/// A generation whose hooks before the model have been called.
///
/// [`Thinking::begin`](crate::Thinking::begin) begins one for programs that call tools between the
/// first call and the draft, such as agents: the hooks and the memory are used once for the whole
/// generation, rather than once for each call.
pub struct Generating<'a> {
    record: Record,
    draft: Draft<'a>,
}

impl<'a> Generating<'a> {
    pub(crate) async fn begin(
        setup: &Arc<Setup>,
        client: &'a dyn LlmClient,
        meter: &Meter,
        request: ChatRequest,
    ) -> Result<Self, LlmError> {
        let client = Metered {
            client,
            calls: meter.share(),
            hook: None,
        };
        let draft = Draft::new(client, request);
        let record = Record::new(setup, meter, draft.input.text());

        let mut generating = Self { record, draft };
        // Before the hooks, which may use what was found.
        generating.recall().await;
        match generating.before().await {
            Ok(()) => Ok(generating),
            Err(error) => Err(generating.fail(error)),
        }
    }

    /// Returns the request for the model, with the changes of the hooks.
    pub fn request(&self) -> &ChatRequest {
        &self.draft.request
    }

    /// Returns the client, whose calls are counted.
    pub(crate) fn client(&self) -> &dyn LlmClient {
        &self.draft.client
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
        self.draft.request = request;
        let response = match self.after(draft).await {
            Ok(response) => response,
            Err(error) => return Err(self.fail(error)),
        };

        let (response, report) = self.record.done(response).await;
        Ok(Generation {
            response,
            blocks: self.draft.content.blocks,
            metadata: self.draft.content.metadata,
            report,
        })
    }

    /// Ends the generation with the reply to its request, or with the error.
    pub(crate) async fn end_with(
        self,
        draft: Result<ChatResponse, LlmError>,
    ) -> Result<Generation, LlmError> {
        let request = self.request().clone();
        match draft {
            Ok(draft) => self.end(request, draft).await,
            Err(error) => Err(self.fail(error)),
        }
    }

    /// Streams the reply without calling hooks after it.
    pub(crate) async fn into_stream(self) -> Result<ReplyStream, LlmError> {
        let reply = match self.client().stream(self.request().clone()).await {
            Ok(reply) => reply,
            Err(error) => return Err(self.fail(error)),
        };

        let deltas = stream::unfold(Some((reply, self.record)), |state| async move {
            let (mut reply, mut record) = state?;
            match reply.next().await? {
                Ok(Delta::End(draft)) => {
                    // Only now, because the text has been streamed and no hook can change it.
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
        let setup = Arc::clone(&self.record.setup);
        let text = self.draft.input.text();
        let memory = setup.memory.as_ref();
        // There are no words to search for in a message that is only an image.
        let Some(memory) = memory.filter(|_| !text.trim().is_empty()) else {
            return;
        };

        let settings = &memory.settings;
        let top_k = settings.top_k.min(100);
        let search = memory.store.search(text, top_k, settings.threshold);

        if let Some(mut found) = self.record.of_memory(search).await {
            // A custom store may return more than requested.
            found.truncate(top_k);
            self.record.report.memory.clone_from(&found);
            self.draft.memory = found;
        }
    }

    async fn before(&mut self) -> Result<(), LlmError> {
        let setup = Arc::clone(&self.record.setup);
        let last = self.draft.request.messages().last();
        if last.is_some_and(|last| last.role() == Role::User) {
            for mode in setup.modes_with(Hook::Before) {
                self.call(mode, Hook::Before).await?;

                // The next hook sees the conversation as it would be sent.
                let Content { text, blocks, .. } = self.draft.content.clone();
                self.draft.replace_input(text, &blocks);
            }
        }

        self.add_memory();
        Ok(())
    }

    /// Appends the search result of the memory to the last user message.
    fn add_memory(&mut self) {
        let mut messages = self.draft.request.messages().iter();
        let asked = messages.rfind(|message| message.role() == Role::User);

        if let (Some(found), Some(asked)) = (recalled(&self.draft.memory), asked.cloned()) {
            let text = joined(asked.text(), &found);
            self.draft.replace_input(text, asked.blocks());
        }
    }

    /// Calls the hooks after the generation, unless the draft calls tools.
    async fn after(&mut self, draft: ChatResponse) -> Result<ChatResponse, LlmError> {
        let text: Arc<str> = draft.text().into();
        // The first draft is reported even if a hook replaces it.
        self.record.add_draft(None, Arc::clone(&text));
        self.draft.content.text = text;
        // The blocks were those of the user's message; the metadata is passed on.
        self.draft.content.blocks.clear();

        // The program makes the calls, and asks again with their results.
        if !draft.tool_calls().is_empty() {
            return Ok(draft);
        }

        let setup = Arc::clone(&self.record.setup);
        for mode in setup.modes_with(Hook::After) {
            self.call(mode, Hook::After).await?;
        }
        Ok(changed(draft, self.draft.text()))
    }

    /// Calls a hook, whose changes remain even if it fails.
    async fn call(&mut self, mode: &dyn ThinkingMode, hook: Hook) -> Result<(), LlmError> {
        let draft = &mut self.draft;
        // All hooks share the limits, so each gets what the ones before it have left.
        let meter = self.record.meter();
        let content = draft.content.clone();
        draft.hook = hook;
        draft.client.hook = Some(meter.share());

        let called = async {
            match hook {
                Hook::Before => mode.before(draft).await,
                Hook::After => mode.after(draft).await,
            }
        };
        // Looked at below: what the hook has changed remains even if it failed.
        let result = within(&meter, called).await.flatten();

        // Calls of the program that follow aren't those of a hook.
        draft.client.hook = None;
        let notes = mem::take(&mut *draft.notes());
        for text in notes.drafts {
            self.record.add_draft(Some(mode.name()), text);
        }

        let report = HookReport {
            mode: mode.name().to_owned(),
            hook,
            outcome: outcome(&result, &content, &draft.content),
            problems: notes.problems,
            spent: self.record.add_cost(&meter),
        };
        self.record.report.hooks.push(report);

        match result {
            Err(refusal @ ThinkingError::Refused(_)) => Err(refused(mode.name(), hook, refusal)),
            _ => Ok(()),
        }
    }
}

/// Returns the error of a generation that a mode refuses.
fn refused(mode: &str, hook: Hook, refusal: ThinkingError) -> LlmError {
    let what = match hook {
        Hook::Before => "request",
        Hook::After => "answer",
    };

    // The reason is for the program, which may show it to the user.
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
        // A hook that puts back what it has changed has changed nothing.
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
