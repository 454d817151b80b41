use std::mem;
use std::sync::Arc;

use cogwork_llm::{
    ChatRequest, ChatResponse, Delta, FinishReason, LlmClient, LlmError, LlmErrorKind, ReplyStream,
    Role,
};
use cogwork_text::Name;
use cogwork_typed::ask::{Meter, Spent};
use futures_util::stream;

use crate::draft::Content;
use crate::hook_client::HookClient;
use crate::memory::MemoryError;
use crate::thinking::Setup;
use crate::{Draft, Generation, Hook, HookReport, Outcome, Report, ThinkingError, ThinkingMode};

/// A generation whose hooks before the model have been called.
///
/// [`Thinking::begin`](crate::Thinking::begin) begins one for programs that call tools between the
/// first call and the draft, such as agents: the hooks and the memory are used once for the whole
/// generation, rather than once for each call.
pub struct Generating {
    setup: Arc<Setup>,
    draft: Draft,
    /// What hooks and memory have cost.
    thinking: Spent,
}

impl Generating {
    pub(crate) async fn begin(
        client: &Arc<dyn LlmClient>,
        setup: &Arc<Setup>,
        meter: &Meter,
        request: ChatRequest,
    ) -> Result<Self, LlmError> {
        let client = HookClient {
            client: Arc::clone(client),
            calls: meter.share(),
            hook: Meter::default(),
        };
        let mut generating = Self {
            setup: Arc::clone(setup),
            draft: Draft::new(client, request),
            thinking: Spent::default(),
        };

        // Before the hooks, which may use what was found.
        generating.recall().await;
        generating.before().await?;
        Ok(generating)
    }

    /// Returns the request for the model, with the changes of the hooks.
    pub fn request(&self) -> &ChatRequest {
        &self.draft.request
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
        let response = self.after(draft).await?;
        Ok(self.done(response).await)
    }

    /// Calls the model for the draft, and ends the generation with it.
    pub(crate) async fn complete(self, streamed: bool) -> Result<Generation, LlmError> {
        let request = self.request().clone();
        let metered = self.draft.client.calls.begin(&request);
        let model = Arc::clone(&self.draft.client.client);

        let draft = match streamed {
            true => model.stream(request.clone()).await?.collect().await?,
            false => model.complete(request.clone()).await?,
        };

        metered.end(&draft);
        self.end(request, draft).await
    }

    /// Streams the reply without calling hooks after it.
    pub(crate) async fn into_stream(self) -> Result<ReplyStream, LlmError> {
        let request = self.request().clone();
        let metered = self.draft.client.calls.begin(&request);
        let model = Arc::clone(&self.draft.client.client);
        let reply = model.stream(request).await?;

        let state = Some((reply, metered, self));
        let deltas = stream::unfold(state, |state| async move {
            let (mut reply, metered, mut generating) = state?;
            match reply.next().await? {
                Ok(Delta::End(draft)) => {
                    metered.end(&draft);
                    // Only now, because the text has been streamed and no hook can change it.
                    generating.consider_draft(draft.text());
                    let generation = generating.done(draft).await;
                    Some((Ok(Delta::End(generation.response)), None))
                }
                Err(error) => Some((Err(error), None)),
                delta => Some((delta, Some((reply, metered, generating)))),
            }
        });
        Ok(ReplyStream::new(deltas))
    }

    /// Searches the memory with the user's message.
    async fn recall(&mut self) {
        let setup = Arc::clone(&self.setup);
        let text = self.draft.input.text().to_owned();
        let memory = setup.memory.as_ref();
        // There are no words to search for in a message that is only an image.
        let Some(memory) = memory.filter(|_| !text.trim().is_empty()) else {
            return;
        };

        let settings = &memory.settings;
        let top_k = settings.top_k.min(100);
        let search = memory.store.search(&text, top_k, settings.threshold);
        if let Some(mut found) = self.of_memory(search).await {
            // A custom store may return more than requested.
            found.truncate(top_k);
            if !found.is_empty() {
                self.draft.report.memory = found;
                self.draft.write_input();
            }
        }
    }

    async fn before(&mut self) -> Result<(), LlmError> {
        let setup = Arc::clone(&self.setup);
        let last = self.request().messages().last();
        if last.is_some_and(|last| last.role() == Role::User) {
            for mode in setup.modes_with(Hook::Before) {
                self.call(mode, Hook::Before).await?;
            }
        }
        Ok(())
    }

    /// Calls the hooks after the generation, unless the draft calls tools.
    async fn after(&mut self, draft: ChatResponse) -> Result<ChatResponse, LlmError> {
        // The first draft is reported even if a hook replaces it.
        self.consider_draft(draft.text());
        self.draft.content.text = draft.text().into();
        // The blocks were those of the user's message; the metadata is passed on.
        self.draft.content.blocks.clear();

        // The program makes the calls, and asks again with their results.
        if !draft.tool_calls().is_empty() {
            return Ok(draft);
        }

        let setup = Arc::clone(&self.setup);
        for mode in setup.modes_with(Hook::After) {
            self.call(mode, Hook::After).await?;
        }
        Ok(changed(draft, self.draft.text()))
    }

    /// Adds the draft of the model itself to the report.
    fn consider_draft(&mut self, text: &str) {
        self.draft.mode = None;
        self.draft.consider(text);
    }

    /// Calls a hook, whose changes remain even if it fails.
    async fn call(&mut self, mode: &dyn ThinkingMode, hook: Hook) -> Result<(), LlmError> {
        let meter = self.meter();
        let draft = &mut self.draft;
        let content = draft.content.clone();
        draft.hook = hook;
        draft.mode = Some(mode.name().to_owned());
        draft.client.hook = meter.share();

        let called = async {
            match hook {
                Hook::Before => mode.before(draft).await,
                Hook::After => mode.after(draft).await,
            }
        };
        // Looked at below: what the hook has changed remains even if it failed.
        let result = within(&meter, called).await.flatten();
        self.thinking += meter.spent();

        let report = HookReport {
            mode: mode.name().to_owned(),
            hook,
            outcome: outcome(&result, &content, &self.draft.content),
            problems: mem::take(&mut self.draft.problems),
            spent: meter.spent(),
        };
        self.draft.report.hooks.push(report);

        match result {
            Err(refusal @ ThinkingError::Refused(_)) => Err(refused(mode.name(), hook, refusal)),
            _ => Ok(()),
        }
    }

    /// Calls the memory within the remaining time. A failure is only reported.
    async fn of_memory<T>(
        &mut self,
        call: impl Future<Output = Result<T, MemoryError>>,
    ) -> Option<T> {
        let meter = self.meter();
        let called = within(&meter, call).await;
        self.thinking += meter.spent();

        let problem = match called {
            Ok(Ok(done)) => return Some(done),
            Ok(Err(error)) => error.to_string(),
            Err(error) => error.to_string(),
        };
        // Without a memory, the answer is worse; without an answer, there is nothing.
        self.draft.report.memory_failures.push(problem);
        None
    }

    /// Returns a meter for a hook or a call of the memory. All of them share the limits, so each gets
    /// what the ones before it have left.
    fn meter(&self) -> Meter {
        Meter::new(self.setup.limits, self.thinking)
    }

    /// Ends the generation with the answer, whose usage becomes that of all calls.
    async fn done(mut self, response: ChatResponse) -> Generation {
        // Before the report, which contains a failure of the memory.
        self.remember(&response).await;

        let spent = self.draft.client.calls.spent();
        let Draft {
            content, report, ..
        } = self.draft;
        let usage = spent.usage;
        Generation {
            response: match usage.total_tokens() {
                // A server that reports no usage still reports none.
                0 => response,
                _ => response.with_usage(usage),
            },
            blocks: content.blocks,
            metadata: content.metadata,
            report: Report { spent, ..report },
        }
    }

    /// Stores question and answer in the memory, in one item because one is found by the words of
    /// the other.
    async fn remember(&mut self, response: &ChatResponse) {
        let setup = Arc::clone(&self.setup);
        let memory = setup.memory.as_ref();
        let memory = memory.filter(|memory| memory.settings.remember && is_answer(response));

        if let Some(memory) = memory {
            let question = self.draft.input.text().trim();
            let answer = response.text().trim();
            let text = format!("Asked: {question}\nAnswered: {answer}");
            self.of_memory(memory.store.add(&text)).await;
        }
    }
}

/// A reply with tool calls isn't an answer, and a truncated one would be wrong.
fn is_answer(response: &ChatResponse) -> bool {
    response.tool_calls().is_empty()
        && *response.finish_reason() == FinishReason::Stop
        && !response.text().trim().is_empty()
}

/// Awaits `future` within the time that the meter allows.
async fn within<T>(meter: &Meter, future: impl Future<Output = T>) -> Result<T, ThinkingError> {
    let done = meter.limit(future).await;
    done.map_err(|limit| ThinkingError::new(format!("thinking took longer than {limit}")))
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
