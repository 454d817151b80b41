//! A small problem with a whole run of replies to it, and clients that a script cannot be.

use std::error::Error;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;

use cogwork_cot::{ChainOfThought, CotError, Reasoning, Reply};
use cogwork_flow::{Flow, RunError};
use cogwork_llm::{ChatRequest, ChatResponse, LlmClient, LlmError, ScriptedReply, async_trait};

pub(crate) const PROBLEM: &str = "What is 12 * 12 + 6?";

/// A plan is made.
pub(crate) const FIRST: &str = "\
```yaml
current_thinking: I multiply, then add.
planning:
  - {description: Multiply, status: Pending}
  - {description: Add, status: Pending}
  - {description: Conclusion, status: Pending}
next_thought_needed: true
```";

/// The first step is done.
pub(crate) const SECOND: &str = "\
```yaml
current_thinking: |
  Evaluation of thought 1: right.
  12 * 12 = 144.
planning:
  - {description: Multiply, status: Done, result: 144}
  - {description: Add, status: Pending}
  - {description: Conclusion, status: Pending}
next_thought_needed: true
```";

/// The conclusion.
pub(crate) const LAST: &str = "\
```yaml
current_thinking: |
  Evaluation of thought 2: right.
  144 + 6 = 150, so the answer is 150.
planning:
  - {description: Multiply, status: Done, result: 144}
  - {description: Add, status: Done, result: 150}
  - {description: Conclusion, status: Done, result: 150}
next_thought_needed: false
```";

/// The conclusion, with a step left undone.
pub(crate) const EARLY: &str = "\
```yaml
current_thinking: The answer is 150.
planning:
  - {description: Multiply, status: Done, result: 144}
  - {description: Add, status: Pending}
  - {description: Conclusion, status: Verification Needed, mark: unsure}
next_thought_needed: false
```";

/// No reply at all.
pub(crate) const PROSE: &str = "Sure! Let me think about it.";

pub(crate) fn reasoning() -> Reasoning {
    Reasoning::new(PROBLEM)
}

pub(crate) fn flow(client: impl LlmClient + 'static) -> Flow<Reasoning> {
    ChainOfThought::new(client).into_flow()
}

/// Runs the loop to its end, whichever that is.
pub(crate) async fn run(node: ChainOfThought) -> (Reasoning, Result<(), RunError>) {
    let mut reasoning = reasoning();
    let ended = node.into_flow().run(&mut reasoning).await;
    (reasoning, ended.map(drop))
}

/// Runs the loop to its conclusion.
pub(crate) async fn solve(node: ChainOfThought) -> Reasoning {
    let (reasoning, ended) = run(node).await;
    ended.unwrap();
    reasoning
}

/// Runs the loop to its error.
pub(crate) async fn failure(node: ChainOfThought) -> RunError {
    run(node).await.1.unwrap_err()
}

/// A runtime of its own for a run, with a paused clock.
pub(crate) fn run_alone(node: ChainOfThought) -> (Reasoning, Result<(), RunError>) {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_time().start_paused(true).build().unwrap();
    runtime.block_on(run(node))
}

/// A reply in pieces of so many characters.
pub(crate) fn in_pieces(text: &str, length: usize) -> ScriptedReply {
    let characters: Vec<char> = text.chars().collect();
    let pieces = characters
        .chunks(length)
        .map(|piece| piece.iter().collect::<String>());
    ScriptedReply::in_pieces(pieces)
}

/// A saved state is read back as it was, in both formats.
pub(crate) fn assert_survives_saving(reasoning: &Reasoning) {
    let json = serde_json::to_string(reasoning).unwrap();
    let yaml = serde_yaml::to_string(reasoning).unwrap();
    assert_eq!(
        &serde_json::from_str::<Reasoning>(&json).unwrap(),
        reasoning
    );
    assert_eq!(
        &serde_yaml::from_str::<Reasoning>(&yaml).unwrap(),
        reasoning
    );
}

pub(crate) fn read(reply: &str) -> Reply {
    Reply::read(reply).unwrap().reply
}

pub(crate) fn cot_error(error: &RunError) -> &CotError {
    error.downcast_ref().expect("the node's own error")
}

/// What an error comes from.
pub(crate) fn source<E: Error + 'static>(error: &CotError) -> &E {
    let source = error.source().expect("a source");
    source.downcast_ref().expect("a source of this type")
}

/// The messages of a request from the given one on, in a form for people to review.
pub(crate) fn conversation(request: &ChatRequest, from: usize) -> String {
    let messages = request.messages().iter().skip(from);
    let shown = messages.map(|message| format!("[{}]\n{}\n", message.role(), message.text()));
    shown.collect::<Vec<_>>().join("\n")
}

/// Answers from the conversation alone, like a model: the reply of the thought that is asked for,
/// and the last one for ever. A call that was given up is answered alike when it is made again.
#[derive(Debug, Default)]
pub(crate) struct Stateless {
    pub(crate) replies: Vec<String>,
    /// Gives prose at first, and the reply only when asked again.
    pub(crate) prose_first: bool,
    /// How often a call waits, before and after the answer is there.
    pub(crate) waits: usize,
    pub(crate) calls: AtomicUsize,
}

impl Stateless {
    pub(crate) fn new(replies: &[&str]) -> Self {
        Self {
            replies: replies.iter().map(|reply| (*reply).to_owned()).collect(),
            ..Self::default()
        }
    }

    fn answer(&self, request: &ChatRequest) -> String {
        self.calls.fetch_add(1, Ordering::Relaxed);
        let last = request.messages().last().unwrap().text();
        if self.prose_first && !last.starts_with("Your last reply") {
            return PROSE.to_owned();
        }

        let turn = request.messages().iter().rev().find_map(|message| {
            let (_, rest) = message.text().split_once("This is thought ")?;
            let digits = rest.split(|c: char| !c.is_ascii_digit()).next()?;
            digits.parse::<usize>().ok()
        });

        let turn = turn.expect("the request says which thought it is");
        self.replies[turn.min(self.replies.len()) - 1].clone()
    }
}

#[async_trait]
impl LlmClient for Stateless {
    async fn complete(&self, request: ChatRequest) -> Result<ChatResponse, LlmError> {
        wait(self.waits).await;
        let answer = self.answer(&request);
        wait(self.waits).await;

        Ok(ChatResponse::new(answer))
    }
}

/// Is pending so often.
pub(crate) async fn wait(times: usize) {
    let mut waits = 0..times;
    poll_fn(|context| match waits.next() {
        None => Poll::Ready(()),
        Some(_) => {
            context.waker().wake_by_ref();
            Poll::Pending
        }
    })
    .await;
}

/// Polls so often at most; `None` if there is no outcome by then.
pub(crate) async fn poll_times<T>(
    mut future: Pin<&mut impl Future<Output = T>>,
    times: usize,
) -> Option<T> {
    for _ in 0..times {
        let polled = poll_fn(|context| Poll::Ready(future.as_mut().poll(context))).await;
        if let Poll::Ready(outcome) = polled {
            return Some(outcome);
        }
    }

    None
}
