//! Thinking around a client, as a program sees it.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod hooks;
mod hostile;
mod invisible;
mod memory_use;
mod modes;
mod reflection;
mod shown;
mod streams;
mod tool_loop;

use std::sync::{Arc, Mutex};

use cogwork_llm::{ChatRequest, ChatResponse, Message, Usage};
use cogwork_thinking::{
    HookOutcome, Hooks, Moment, Payload, Report, Thinking, ThinkingError, ThinkingMode, async_trait,
};

/// A mode made of a closure for each hook.
struct Mode<B, A> {
    name: &'static str,
    hooks: Hooks,
    before: B,
    after: A,
}

#[async_trait]
impl<B, A> ThinkingMode for Mode<B, A>
where
    B: Fn(&Payload) -> Result<HookOutcome, ThinkingError> + Send + Sync,
    A: Fn(&Payload) -> Result<HookOutcome, ThinkingError> + Send + Sync,
{
    fn name(&self) -> &str {
        self.name
    }

    fn hooks(&self) -> Hooks {
        self.hooks
    }

    async fn before(
        &self,
        _moment: &Moment<'_>,
        payload: &Payload,
    ) -> Result<HookOutcome, ThinkingError> {
        (self.before)(payload)
    }

    async fn after(
        &self,
        _moment: &Moment<'_>,
        payload: &Payload,
    ) -> Result<HookOutcome, ThinkingError> {
        (self.after)(payload)
    }
}

fn keep(_: &Payload) -> Result<HookOutcome, ThinkingError> {
    Ok(HookOutcome::Keep)
}

fn before(
    name: &'static str,
    hook: impl Fn(&Payload) -> Result<HookOutcome, ThinkingError> + Send + Sync + 'static,
) -> impl ThinkingMode + 'static {
    Mode {
        name,
        hooks: Hooks::BEFORE,
        before: hook,
        after: keep,
    }
}

fn after(
    name: &'static str,
    hook: impl Fn(&Payload) -> Result<HookOutcome, ThinkingError> + Send + Sync + 'static,
) -> impl ThinkingMode + 'static {
    Mode {
        name,
        hooks: Hooks::AFTER,
        before: keep,
        after: hook,
    }
}

fn ask(text: &str) -> ChatRequest {
    ChatRequest::new([Message::system("Be brief."), Message::user(text)])
}

/// A reply that took this many tokens to read and write.
fn reply(text: &str, prompt: u64, completion: u64) -> ChatResponse {
    ChatResponse::new(text).with_usage(Usage::new(prompt, completion))
}

/// The conversation as lines.
fn shown(request: &ChatRequest) -> String {
    let lines = request.messages().iter().map(|message| {
        let blocks = message
            .blocks()
            .iter()
            .map(|block| format!(" {block:?}"))
            .collect::<String>();
        format!("[{}{blocks}] {}", message.role(), message.text())
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// The same thinking, with its reports kept.
fn kept<C>(thinking: Thinking<C>) -> (Thinking<C>, Arc<Mutex<Vec<Report>>>) {
    let reports = Arc::new(Mutex::new(Vec::new()));
    let to = reports.clone();
    (
        thinking.with_reporter(move |report| to.lock().unwrap().push(report.clone())),
        reports,
    )
}

/// Returns the outcome that extends the text of `payload`.
fn appended(payload: &Payload, text: &str) -> HookOutcome {
    HookOutcome::replace_text(format!("{}\n\n{text}", payload.text()))
}
