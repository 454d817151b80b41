use std::time::Duration;

use cogwork_llm::layers::Timeout;
use cogwork_llm::{
    ChatResponse, Delta, LlmClient, LlmError, LlmErrorKind, ReplyStream, ScriptedClient,
    ScriptedReply, Usage,
};
use cogwork_thinking::memory::{InMemory, Memory, Recall};
use cogwork_thinking::{PlanFirst, Reflection, Thinking};

use crate::thinking::{ask, reply};

async fn deltas(mut reply: ReplyStream) -> Vec<Delta> {
    let mut all = Vec::new();
    while let Some(delta) = reply.next().await {
        all.push(delta.unwrap());
    }

    all
}

fn text(text: &str) -> Delta {
    Delta::Text(text.to_owned())
}

#[tokio::test]
async fn with_hooks_before_the_reply_flows_and_its_end_has_the_whole_usage() {
    let script = ScriptedClient::new([reply("A plan.", 10, 5)])
        .then(ScriptedReply::in_pieces(["Good ", "morning."]));
    let client = Thinking::new(script).with_mode(PlanFirst::default());
    let got = deltas(client.stream(ask("Hello")).await.unwrap()).await;
    let end = ChatResponse::new("Good morning.").with_usage(Usage::new(10, 5));

    assert_eq!(got, [text("Good "), text("morning."), Delta::End(end)]);
}

#[tokio::test]
async fn with_hooks_after_nothing_is_shown_of_the_draft() {
    let script = ScriptedClient::default()
        .then(ScriptedReply::in_pieces(["Wrong ", "draft."]))
        .then("Right.");
    let client = Thinking::new(script).with_mode(Reflection::new("Again."));
    let got = deltas(client.stream(ask("Hello")).await.unwrap()).await;
    let end = Delta::End(ChatResponse::new("Right."));
    assert_eq!(got, [text("Right."), end]);
}

#[tokio::test]
async fn a_stream_that_breaks_off_is_not_remembered() {
    let reset = LlmError::new(LlmErrorKind::InterruptedStream, "connection reset");
    let script = ScriptedClient::new([ScriptedReply::in_pieces(["Once upon"]).but_then(reset)]);
    let memory = InMemory::new();
    let recall = Recall::from(memory.clone()).with_remembering(true);
    let client = Thinking::new(script).with_memory(recall);
    let stream = client.stream(ask("Tell")).await.unwrap();
    let error = stream.collect().await.unwrap_err();
    assert_eq!(error.text_so_far(), Some("Once upon"));
    assert_eq!(memory.search("tell once upon", 9, 0.0).await.unwrap(), []);
}

#[tokio::test(start_paused = true)]
async fn a_draft_behind_a_stream_is_streamed_too_so_that_its_limits_hold() {
    let slow = ScriptedReply::from("draft").after(Duration::from_secs(60));
    let inner = Timeout::new(ScriptedClient::new([slow])).with_first(Duration::from_secs(5));
    let client = Thinking::new(inner).with_mode(Reflection::new("Again."));
    let error = client.stream(ask("Hello")).await.unwrap_err();

    let told = "timeout: no first piece of the reply within 5s";
    assert_eq!(error.to_string(), told);
}
