//! Faults that were measured in ChatDev's thinking module, and the correct behaviour.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use cogwork_llm::{
    Block, ChatRequest, ChatResponse, FinishReason, LlmClient, LlmError, LlmErrorKind, Message,
    ScriptedClient, ToolCall,
};
use cogwork_thinking::{
    BestOf, Critique, Found, HookOutcome, InMemory, Memory, MemoryError, PlanFirst, Reflection,
    Thinking, ThinkingMode, Verification, async_trait,
};

use crate::thinking::{after, appended, ask, before, kept, shown};

#[tokio::test]
async fn a_reflection_that_fails_keeps_the_draft_and_is_reported() {
    let failures: [(ChatReply, &str); 4] = [
        (
            Err(LlmError::new(LlmErrorKind::Overloaded, "come back later")),
            "overloaded: come back later",
        ),
        (Ok(ChatResponse::new(" \n")), "the model's reply is empty"),
        (
            Ok(ChatResponse::new("The answer i").with_finish_reason(FinishReason::Length)),
            "the reply was truncated after 12 bytes",
        ),
        (
            Ok(ChatResponse::new("").with_finish_reason(FinishReason::ContentFilter)),
            "a filter withheld the reply",
        ),
    ];
    for (failure, expected) in failures {
        let script = ScriptedClient::new(["A good draft."]).then(failure);
        let (client, reports) =
            kept(Thinking::new(script).with_mode(Reflection::new("Look again.")));
        let response = client.complete(ask("Well?")).await.unwrap();
        assert_eq!(response.text(), "A good draft.");
        assert_eq!(*response.finish_reason(), FinishReason::Stop);

        let reports = reports.lock().unwrap();
        assert_eq!(
            reports[0].failures().collect::<Vec<_>>(),
            [("reflection", expected)]
        );
    }
}

type ChatReply = Result<ChatResponse, LlmError>;

#[tokio::test]
async fn reflection_sends_each_message_once_and_in_its_role() {
    let script = ScriptedClient::new(["A draft.", "Better."]);
    let client = Thinking::new(script.clone()).with_mode(Reflection::new("Look again."));
    client.complete(ask("Why is the sky blue?")).await.unwrap();
    insta::assert_snapshot!(script.requests().iter().map(shown).collect::<Vec<_>>().join("\n---\n"), @r"
    [system] Be brief.
    [user] Why is the sky blue?
    ---
    [system] Be brief.
    [user] Why is the sky blue?
    [assistant] A draft.
    [user] Look again.
    ");
}

struct Counting(InMemory, AtomicUsize);

#[async_trait]
impl Memory for Counting {
    async fn search(
        &self,
        query: &str,
        top_k: usize,
        threshold: f32,
    ) -> Result<Vec<Found>, MemoryError> {
        self.1.fetch_add(1, Ordering::Relaxed);
        self.0.search(query, top_k, threshold).await
    }

    async fn add(&self, text: &str) -> Result<(), MemoryError> {
        self.0.add(text).await
    }
}

#[tokio::test]
async fn the_memory_is_looked_up_once_whatever_reads_it() {
    let memory = Arc::new(Counting(InMemory::new(), AtomicUsize::new(0)));
    memory.add("Ada is allergic to nuts.").await.unwrap();
    let script = ScriptedClient::new(["A plan.", "A draft.", "Better.", "ALL MET"]);
    let client = Thinking::new(script.clone())
        .with_memory(memory.clone())
        .with_mode(PlanFirst::new())
        .with_mode(Reflection::new("Look again."))
        .with_mode(Critique::new(["It is short."]));

    client.complete(ask("What can Ada eat?")).await.unwrap();
    assert_eq!(memory.1.load(Ordering::Relaxed), 1);

    // All of them saw it, and each of them once.
    for request in script.requests() {
        assert_eq!(
            shown(&request).matches("Ada is allergic to nuts.").count(),
            1,
            "{}",
            shown(&request)
        );
    }
}

#[tokio::test]
async fn a_reply_of_tool_calls_goes_through_as_it_is() {
    let calls = ChatResponse::new("")
        .with_finish_reason(FinishReason::ToolCalls)
        .with_tool_calls([ToolCall::new("1", "weather", r#"{"city": "Bergen"}"#)]);
    let modes: [Box<dyn ThinkingMode>; 4] = [
        Box::new(Reflection::new("Look again.")),
        Box::new(Critique::new(["It is short."])),
        Box::new(Verification::new()),
        Box::new(BestOf::new(2)),
    ];

    for mode in modes {
        let script = ScriptedClient::new([calls.clone()]);
        let response = Thinking::new(script.clone())
            .with_mode(mode)
            .complete(ask("Umbrella?"))
            .await
            .unwrap();

        assert_eq!(response, calls);
        assert_eq!(script.requests().len(), 1);
    }
}

#[tokio::test]
async fn attachments_reach_the_model_at_every_call() {
    let picture = Block::image("image/png", "iVBORw0KGgo=");
    let request = ChatRequest::new([Message::user("what is this").with_blocks([picture.clone()])]);
    let script = ScriptedClient::new(["A plan.", "A cat.", "A dog."]);
    let client = Thinking::new(script.clone())
        .with_mode(before("tidy", |_| {
            Ok(HookOutcome::replace_text("What is this?"))
        }))
        .with_mode(PlanFirst::new())
        .with_mode(Reflection::new("Look again."));

    client.complete(request).await.unwrap();
    assert_eq!(script.requests().len(), 3);
    for request in script.requests() {
        let user = request
            .messages()
            .iter()
            .find(|message| message.text().contains("What is this?"))
            .unwrap();
        assert_eq!(user.blocks(), std::slice::from_ref(&picture));
    }
}

#[tokio::test]
async fn a_mode_may_have_one_hook_or_none() {
    struct Nothing;
    impl ThinkingMode for Nothing {}
    assert_eq!(Nothing.name(), "Nothing");

    let script = ScriptedClient::new(["hello"]);
    let client = Thinking::new(script.clone())
        .with_mode(Nothing)
        .with_mode(before("louder", |input| {
            Ok(HookOutcome::replace_text(input.text().to_uppercase()))
        }))
        .with_mode(after("softer", |draft| Ok(appended(draft, draft.text()))));

    let response = client
        .complete(ChatRequest::new([Message::user("hi")]))
        .await
        .unwrap();
    assert_eq!(shown(&script.requests()[0]), "[user] HI");
    assert_eq!(response.text(), "hello\n\nhello");
}
