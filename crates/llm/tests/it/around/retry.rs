//! When `Retry` tries again, how long it waits, and what it returns.

use std::time::Duration;

use cogwork_llm::embedding::{Embedder, Embeddings};
use cogwork_llm::layers::{Backoff, Fallback, Retry};
use cogwork_llm::{
    ChatRequest, ChatResponse, LlmClient, LlmError, LlmErrorKind, ScriptedClient, ScriptedReply,
    async_trait,
};
use serde_json::json;
use tokio::time::Instant;

use crate::around::{ask, both, fails, follow, hello, seconds};
use crate::table::check;

fn limited(wait: u64) -> LlmError {
    LlmError::new(LlmErrorKind::RateLimit, "slow down")
        .with_status(429)
        .with_retry_after(seconds(wait))
}

/// Waits of 1 s and 2 s between three attempts.
fn steady() -> Backoff {
    Backoff::of::<3>().with_first(seconds(1)).with_jitter(false)
}

/// The outcome of a call, and the seconds that it took.
async fn timed(client: impl LlmClient) -> (Result<ChatResponse, LlmError>, u64) {
    let started = Instant::now();
    let outcome = ask(&client).await;
    (outcome, started.elapsed().as_secs())
}

#[tokio::test(start_paused = true)]
async fn failures_that_pass_with_time_are_tried_again_and_those_of_servers_elsewhere() {
    let table = "
        rate_limit | overloaded | server | timeout | transport | interrupted_stream => 3 attempts, then the next
        quota => 1 attempts, then the next
        settings | authentication | invalid_request | context_length | content_filter => 1 attempts
        decode | budget | cancelled | other => 1 attempts
    ";
    check(table, async |name| {
        let kind: LlmErrorKind = serde_json::from_value(json!(name)).unwrap();
        let script = ScriptedClient::new([kind; 6].map(fails));
        let (outcome, _) = timed(Retry::new(script.clone(), steady())).await;
        let attempts = script.requests().len();
        assert_eq!(outcome.unwrap_err().attempts() as usize, attempts);

        let client = Fallback::new(script, ScriptedClient::new(["2", "2"]));
        let next = if both(&client).await.is_ok() {
            ", then the next"
        } else {
            ""
        };
        format!("{attempts} attempts{next}")
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn every_attempt_sends_the_same_request() {
    let failures = [LlmErrorKind::Transport, LlmErrorKind::Timeout].map(fails);
    let script = ScriptedClient::new(failures).then("Hi.");
    let (outcome, took) = timed(Retry::new(script.clone(), steady())).await;
    assert_eq!((outcome.unwrap().text(), took), ("Hi.", 3));
    assert_eq!(script.requests(), [hello(), hello(), hello()]);
}

#[tokio::test(start_paused = true)]
async fn an_error_of_no_use_to_repeat_ends_the_tries() {
    let script =
        ScriptedClient::new([LlmErrorKind::Server, LlmErrorKind::Authentication].map(fails));
    let error = timed(Retry::new(script, steady())).await.0.unwrap_err();
    insta::assert_snapshot!(error, @"authentication: no luck, after 2 attempts");
}

#[tokio::test(start_paused = true)]
async fn the_longer_of_backoff_and_retry_after_is_waited() {
    let jittered = Backoff::of::<2>().with_first(seconds(8));
    for (failures, backoff, expected) in [
        (vec![limited(20), limited(0)], steady(), 22..=22),
        (vec![limited(60)], steady(), 60..=60),
        // Jitter leaves the server's wait alone, and shortens one's own.
        (vec![limited(10)], jittered, 10..=10),
        (vec![fails(LlmErrorKind::Server)], jittered, 4..=8),
    ] {
        let script = ScriptedClient::new(failures).then("Hi.");
        let (outcome, took) = timed(Retry::new(script, backoff)).await;
        assert_eq!(outcome.unwrap().text(), "Hi.");
        assert!(expected.contains(&took), "{took}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_wait_over_the_ceiling_is_reported_once_and_not_waited() {
    let script = ScriptedClient::new([limited(61), limited(61)]);
    let inner = Retry::new(script.clone(), steady());
    let (outcome, took) = timed(Retry::new(inner, steady())).await;
    insta::assert_snapshot!(outcome.unwrap_err(), @"rate limit: slow down; not retried: the wait is over 60s (status 429, retry after 61s)");
    assert_eq!((took, script.requests().len()), (0, 1));
}

#[tokio::test(start_paused = true)]
async fn attempts_of_a_retry_inside_a_retry_are_all_counted() {
    let script = ScriptedClient::new([LlmErrorKind::Server; 4].map(fails));
    let inner = Retry::new(script.clone(), Backoff::of::<2>());
    let outer = Retry::new(inner, Backoff::of::<2>());
    assert_eq!(timed(outer).await.0.unwrap_err().attempts(), 4);
    assert_eq!(script.requests().len(), 4);
}

#[tokio::test(start_paused = true)]
async fn a_call_dropped_in_its_wait_leaves_the_client_ready() {
    let script = ScriptedClient::new([limited(50)]).then("Hi.");
    let client = Retry::new(script.clone(), steady());
    let dropped = tokio::time::timeout(Duration::from_secs(5), ask(&client));
    assert!(dropped.await.is_err());
    assert_eq!(script.requests().len(), 1);
    assert_eq!(ask(&client).await.unwrap().text(), "Hi.");
}

#[tokio::test(start_paused = true)]
async fn a_stream_begins_anew_only_before_its_first_piece() {
    let busy = || fails(LlmErrorKind::Overloaded);
    let script = ScriptedClient::default()
        .then(busy())
        .then(ScriptedReply::in_pieces([""; 0]).but_then(busy()))
        .then(ScriptedReply::in_pieces(["Good "]).but_then(busy()))
        .then(busy())
        .then(busy());
    let client = Retry::new(script.clone(), Backoff::of::<5>());
    let error = follow(&client).await.unwrap_err();
    assert_eq!(error.text_so_far(), Some("Good "));
    assert_eq!(script.requests().len(), 3);

    let client = Retry::new(script, Backoff::of::<2>());
    let error = follow(&client).await.unwrap_err();
    assert_eq!(error.to_string(), "overloaded: no luck, after 2 attempts");
}

/// Embeds each text as the length of the reply of a client.
struct Lengths(ScriptedClient);

#[async_trait]
impl Embedder for Lengths {
    async fn embed(&self, texts: &[String]) -> Result<Embeddings, LlmError> {
        let reply = self.0.complete(ChatRequest::default()).await?;
        Embeddings::new(texts.iter().map(|_| vec![reply.text().len() as f32]))
    }

    fn model(&self) -> &str {
        "lengths"
    }

    fn dimension(&self) -> Option<usize> {
        Some(1)
    }
}

#[tokio::test(start_paused = true)]
async fn calls_of_an_embedder_are_tried_again_as_well() {
    let script = ScriptedClient::new([fails(LlmErrorKind::Server)]).then("four");
    let embedder = Retry::new(Lengths(script), steady());
    assert_eq!(embedder.model(), "lengths");
    assert_eq!(embedder.dimension(), Some(1));
    let embeddings = embedder.embed(&["a".to_owned()]).await.unwrap();
    assert_eq!(embeddings.vectors(), [[4.0]]);
}
