//! The pieces of a `ReplyStream`, its end, and wrappers of clients that pass it on.

use std::sync::Arc;
use std::time::Duration;

use cogwork_llm::backend::{Capabilities, Capability};
use cogwork_llm::layers::{Backoff, Retry};
use cogwork_llm::{
    ChatRequest, ChatResponse, Delta, FinishReason, LlmClient, LlmError, LlmErrorKind, ReplyStream,
    ScriptedClient, ScriptedReply, Usage, async_trait,
};
use futures_util::stream;

use crate::around::{follow, hello};

fn text(text: &str) -> Result<Delta, LlmError> {
    Ok(Delta::Text(text.to_owned()))
}

fn busy() -> LlmError {
    LlmError::new(LlmErrorKind::Overloaded, "busy")
}

fn full() -> ChatResponse {
    let usage = Usage {
        cached_tokens: 2,
        ..Usage::new(5, 7)
    };
    ChatResponse::new("Good morning.")
        .with_reasoning("It is early.")
        .with_finish_reason(FinishReason::Length)
        .with_usage(usage)
        .with_model("m")
        .with_request_id("req_1")
}

fn stream_of<const N: usize>(deltas: [Result<Delta, LlmError>; N]) -> ReplyStream {
    ReplyStream::new(stream::iter(deltas))
}

/// A backend that knows nothing of streams.
struct Plain(ChatResponse);

#[async_trait]
impl LlmClient for Plain {
    async fn complete(&self, _: ChatRequest) -> Result<ChatResponse, LlmError> {
        Ok(self.0.clone())
    }
}

async fn all(mut stream: ReplyStream) -> Vec<Result<Delta, String>> {
    let mut seen = Vec::new();
    while let Some(delta) = stream.next().await {
        seen.push(delta.map_err(|error| error.to_string()));
    }

    assert!(stream.next().await.is_none());
    seen
}

#[tokio::test]
async fn a_backend_without_streams_gives_its_reply_as_one_piece() {
    let client = Plain(full());
    assert_eq!(client.capabilities(), Capabilities::none());
    let expected = [
        Ok(Delta::Reasoning("It is early.".to_owned())),
        text("Good morning."),
        Ok(Delta::End(full())),
    ];
    let expected = expected.map(|delta| delta.map_err(|error| error.to_string()));
    assert_eq!(all(client.stream(hello()).await.unwrap()).await, expected);
    assert_eq!(follow(&client).await.unwrap(), full());
}

#[tokio::test]
async fn the_end_holds_the_texts_that_came_and_not_its_own() {
    let stream = stream_of([
        Ok(Delta::Reasoning("Hm".to_owned())),
        text("Good "),
        Ok(Delta::Reasoning("m.".to_owned())),
        text("day."),
        Ok(Delta::End(full())),
        text("never read"),
    ]);

    let seen = all(stream).await;
    assert_eq!(seen.len(), 5);
    let Ok(Delta::End(response)) = &seen[4] else {
        panic!("{seen:?}")
    };
    let expected = full().with_text("Good day.").with_reasoning("Hmm.");
    assert_eq!(response, &expected);
}

#[tokio::test]
async fn a_stream_that_just_stops_is_an_error_with_the_text_so_far() {
    let error = stream_of([text("Good "), text("mor")])
        .collect()
        .await
        .unwrap_err();
    assert_eq!(error.kind(), LlmErrorKind::InterruptedStream);
    assert!(error.is_retryable());
    assert_eq!(error.text_so_far(), Some("Good mor"));
    insta::assert_snapshot!(format!("{error:#}\n{error:?}"), @"
    interrupted stream: the reply broke off: the stream ended without its end marker
    interrupted stream: the reply broke off: the stream ended without its end marker
    ");
}

#[tokio::test]
async fn every_error_ends_a_stream_and_carries_the_text_so_far() {
    let mut reply = stream_of([text("Good "), Err(busy()), text("never read")]);
    assert!(reply.next().await.unwrap().is_ok());
    let error = reply.next().await.unwrap().unwrap_err();
    assert_eq!(error.kind(), LlmErrorKind::Overloaded);
    assert_eq!(error.text_so_far(), Some("Good "));
    assert!(reply.next().await.is_none());

    let error = reply.collect().await.unwrap_err();
    assert_eq!(error.to_string(), "the stream has already ended");
}

#[tokio::test]
async fn a_started_stream_has_lost_nothing() {
    let end = || Ok(Delta::End(ChatResponse::default()));
    let reply = stream_of([text("a"), text("b"), end()]);
    let reply = reply.started().await.unwrap().started().await.unwrap();
    assert_eq!(reply.collect().await.unwrap().text(), "ab");

    for nothing in [stream_of([Err(busy())]), stream_of([text(""), Err(busy())])] {
        let error = nothing.started().await.unwrap_err();
        assert_eq!(error.kind(), LlmErrorKind::Overloaded);
    }
    let whole = ReplyStream::from(ChatResponse::default())
        .started()
        .await
        .unwrap();
    assert_eq!(all(whole).await, [Ok(Delta::End(ChatResponse::default()))]);
}

#[tokio::test]
async fn a_reply_without_pieces_is_the_one_at_the_end() {
    let reply = stream_of([Ok(Delta::End(full()))]);
    assert_eq!(reply.collect().await.unwrap(), full());
}

#[tokio::test(start_paused = true)]
async fn a_dropped_wait_for_a_piece_loses_none() {
    let script =
        ScriptedClient::new([ScriptedReply::in_pieces(["a", "b"]).every(Duration::from_secs(9))]);
    let mut reply = script.stream(hello()).await.unwrap();
    for _ in 0..3 {
        let wait = tokio::time::timeout(Duration::from_secs(2), reply.next());
        assert!(wait.await.is_err());
    }

    assert_eq!(reply.collect().await.unwrap().text(), "ab");
}

#[tokio::test]
async fn clients_behind_pointers_stream_as_themselves() {
    async fn pieces(client: impl LlmClient) -> usize {
        assert!(client.capabilities().has(Capability::Streaming));
        all(client.stream(hello()).await.unwrap()).await.len()
    }

    let script = || ScriptedClient::new([ScriptedReply::in_pieces(["a", "b", "c"])]);
    assert_eq!(pieces(script()).await, 4);
    assert_eq!(pieces(&script()).await, 4);
    assert_eq!(pieces(Box::new(script())).await, 4);
    assert_eq!(pieces(Arc::new(script()) as Arc<dyn LlmClient>).await, 4);
    assert_eq!(pieces(Retry::new(script(), Backoff::default())).await, 4);
}
