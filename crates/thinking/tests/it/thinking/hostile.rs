//! Models, hooks and callers at their worst.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;

use cogwork_llm::{ChatRequest, ChatResponse, LlmClient, LlmError, ScriptedClient};
use cogwork_thinking::memory::{InMemory, Memory, Recall};
use cogwork_thinking::{
    BestOf, Critique, PlanFirst, Reflection, Thinking, Verification, async_trait,
};

use crate::thinking::ask;

/// Replies in order, each after two polls in which nothing came.
struct Hesitant(ScriptedClient);

#[async_trait]
impl LlmClient for Hesitant {
    async fn complete(&self, request: ChatRequest) -> Result<ChatResponse, LlmError> {
        tokio::task::yield_now().await;
        let response = self.0.complete(request).await;
        tokio::task::yield_now().await;

        response
    }
}

/// What the future gives within so many polls; dropped after them.
async fn polled<T>(future: impl Future<Output = T>, polls: usize) -> Option<T> {
    let mut future = pin!(future);
    for _ in 0..polls {
        let polled = poll_fn(|context| Poll::Ready(future.as_mut().poll(context))).await;
        if let Poll::Ready(done) = polled {
            return Some(done);
        }

        tokio::task::yield_now().await;
    }

    None
}

#[tokio::test]
async fn a_generation_dropped_at_any_await_leaves_nothing_half_done() {
    let replies = "plan/draft/other/1/not met/revised/Is it?/Yes./verified/reflected";
    let mut ended = None;
    for polls in 0..200 {
        let memory = InMemory::new();
        let script = ScriptedClient::new(replies.split('/'));
        let thinking = Thinking::new(Hesitant(script.clone()))
            .with_memory(Recall::from(memory.clone()).with_remembering(true))
            .with_mode(PlanFirst::default())
            .with_mode(BestOf::new(2))
            .with_mode(Critique::new(["short"]))
            .with_mode(Verification::default())
            .with_mode(Reflection::new("Again."));

        let done = polled(thinking.complete(ask("When?")), polls).await;
        let is_done = done.is_some();

        // An item that was being written when the generation was dropped is remembered.
        let remembered = memory.search("when", 9, 0.0).await.unwrap();
        let whole = "Asked: When?\nAnswered: reflected";
        assert!(remembered.iter().all(|found| found.text() == whole));
        assert!((usize::from(is_done)..=1).contains(&remembered.len()));

        if let Some(response) = done {
            assert_eq!(response.unwrap().text(), "reflected");
            ended = Some(polls);
            break;
        }
    }

    // It was dropped at that many awaits.
    assert!(ended.is_some_and(|polls| polls > 15), "{ended:?}");
}
