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

use cogwork_llm::{ChatRequest, ChatResponse, Message, Usage};
use cogwork_thinking::{
    Draft, Generation, Hook, Outcome, ThinkingError, ThinkingMode, async_trait,
};

/// A mode made of a closure for one of the hooks.
struct Mode<F> {
    name: &'static str,
    hook: Hook,
    work: F,
}

#[async_trait]
impl<F> ThinkingMode for Mode<F>
where
    F: Fn(&mut Draft) -> Result<(), ThinkingError> + Send + Sync,
{
    fn name(&self) -> &str {
        self.name
    }

    fn hooks(&self) -> &[Hook] {
        std::slice::from_ref(&self.hook)
    }

    async fn before(&self, input: &mut Draft) -> Result<(), ThinkingError> {
        (self.work)(input)
    }

    async fn after(&self, draft: &mut Draft) -> Result<(), ThinkingError> {
        (self.work)(draft)
    }
}

fn keep(_: &mut Draft) -> Result<(), ThinkingError> {
    Ok(())
}

fn before(
    name: &'static str,
    work: impl Fn(&mut Draft) -> Result<(), ThinkingError> + Send + Sync + 'static,
) -> impl ThinkingMode + 'static {
    let hook = Hook::Before;
    Mode { name, hook, work }
}

fn after(
    name: &'static str,
    work: impl Fn(&mut Draft) -> Result<(), ThinkingError> + Send + Sync + 'static,
) -> impl ThinkingMode + 'static {
    let hook = Hook::After;
    Mode { name, hook, work }
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

/// The failures of hooks, in the order in which they happened, each with the name of the mode.
fn failures(generation: &Generation) -> Vec<(&str, &str)> {
    let hooks = generation.report.hooks.iter();
    let failures = hooks.flat_map(|hook| {
        let last = match &hook.outcome {
            Outcome::Failed(problem) => Some(problem),
            _ => None,
        };
        let problems = hook.problems.iter().chain(last);
        problems.map(|problem| (hook.mode.as_str(), problem.as_str()))
    });
    failures.collect()
}
