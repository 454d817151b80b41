//! Thinking around a client, as a program sees it.

mod hooks;
mod hostile;
mod invisible;
mod memory_use;
mod modes;
mod reflection;
mod shown;
mod streams;

use std::future::{Future, ready};
use std::pin::Pin;

use cogwork_llm::{ChatRequest, ChatResponse, Message, ScriptedClient, Usage};
use cogwork_thinking::{
    Draft, Generation, Hook, Outcome, Thinking, ThinkingError, ThinkingMode, async_trait,
};

type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

type Done = Result<(), ThinkingError>;

/// What a mode does with a draft.
type Work = Box<dyn for<'a> Fn(&'a mut Draft) -> BoxFuture<'a, Done> + Send + Sync>;

/// A mode made of a closure for one of the hooks.
struct Mode {
    name: &'static str,
    hook: Hook,
    work: Work,
}

#[async_trait]
impl ThinkingMode for Mode {
    fn name(&self) -> &str {
        self.name
    }

    fn hooks(&self) -> &[Hook] {
        std::slice::from_ref(&self.hook)
    }

    async fn before(&self, input: &mut Draft) -> Done {
        (self.work)(input).await
    }

    async fn after(&self, draft: &mut Draft) -> Done {
        (self.work)(draft).await
    }
}

/// A mode that may ask the model.
fn asking(
    hook: Hook,
    work: impl for<'a> Fn(&'a mut Draft) -> BoxFuture<'a, Done> + Send + Sync + 'static,
) -> Mode {
    let work = Box::new(work);
    Mode {
        name: "asking",
        hook,
        work,
    }
}

fn acting(
    name: &'static str,
    hook: Hook,
    work: impl Fn(&mut Draft) -> Done + Send + Sync + 'static,
) -> Mode {
    let work: Work = Box::new(move |draft| Box::pin(ready(work(draft))));
    Mode { name, hook, work }
}

fn before(name: &'static str, work: impl Fn(&mut Draft) -> Done + Send + Sync + 'static) -> Mode {
    acting(name, Hook::Before, work)
}

fn after(name: &'static str, work: impl Fn(&mut Draft) -> Done + Send + Sync + 'static) -> Mode {
    acting(name, Hook::After, work)
}

/// The generation with one mode.
async fn generated(
    script: &ScriptedClient,
    mode: impl ThinkingMode + 'static,
    request: ChatRequest,
) -> Generation {
    let thinking = Thinking::new(script.clone()).with_mode(mode);
    thinking.generate(request).await.unwrap()
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
        let blocks = message.blocks().iter();
        let blocks: String = blocks.map(|block| format!(" {block:?}")).collect();
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
