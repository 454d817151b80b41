//! When `Retry` tries again, how long it waits, and what it returns. Time is paused: the waits
//! are exact and cost nothing.

use std::time::Duration;

use cogwork_llm::{
    Backoff, ChatRequest, ChatResponse, Embedder, Embeddings, LlmClient, LlmError, LlmErrorKind,
    Message, Retry, ScriptedClient, async_trait,
};
use tokio::time::Instant;

fn fails(kind: LlmErrorKind) -> LlmError {
    LlmError::new(kind, "no luck")
}

fn limited(wait: Duration) -> LlmError {
    LlmError::new(LlmErrorKind::RateLimit, "slow down")
        .with_status(429)
        .with_retry_after(wait)
}

/// Waits of 1 s and 2 s between three attempts.
fn steady() -> Backoff {
    Backoff::of::<3>()
        .with_first(Duration::from_secs(1))
        .with_jitter(false)
}

async fn ask(client: impl LlmClient) -> (Result<ChatResponse, LlmError>, Duration) {
    let started = Instant::now();
    let outcome = client
        .complete(ChatRequest::new([Message::user("Hello?")]))
        .await;
    (outcome, started.elapsed())
}

/// tokio rounds a sleep up to the next millisecond.
fn assert_took(took: Duration, expected: Duration) {
    assert!(
        took >= expected && took <= expected + Duration::from_millis(3),
        "{took:?}, not {expected:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn every_attempt_sends_the_same_request() {
    let script = ScriptedClient::default()
        .then(fails(LlmErrorKind::Transport))
        .then(fails(LlmErrorKind::Timeout))
        .then("Hi.");
    let (outcome, took) = ask(Retry::new(script.clone(), steady())).await;
    assert_eq!(outcome.unwrap().text(), "Hi.");
    assert_took(took, Duration::from_secs(3));

    let hello = ChatRequest::new([Message::user("Hello?")]);
    assert_eq!(script.requests(), [hello.clone(), hello.clone(), hello]);
}

#[tokio::test(start_paused = true)]
async fn exactly_the_kinds_that_pass_with_time_are_tried_again() {
    use LlmErrorKind::*;

    let passing = [
        RateLimit,
        Overloaded,
        Server,
        Timeout,
        Transport,
        InterruptedStream,
    ];
    let others = [
        Settings,
        Authentication,
        Quota,
        InvalidRequest,
        ContextLength,
        ContentFilter,
        Decode,
        Budget,
        Cancelled,
        Other,
    ];

    for kind in passing.into_iter().chain(others) {
        let attempts = if passing.contains(&kind) { 3 } else { 1 };
        let script = ScriptedClient::new([kind, kind, kind, kind].map(fails));
        let (outcome, _) = ask(Retry::new(script.clone(), steady())).await;
        let error = outcome.unwrap_err();
        assert_eq!((error.kind(), error.attempts()), (kind, attempts));
        assert_eq!(script.requests().len(), attempts as usize, "{kind}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_error_of_no_use_to_repeat_ends_the_tries() {
    let script = ScriptedClient::default()
        .then(fails(LlmErrorKind::Server))
        .then(fails(LlmErrorKind::Authentication));
    let error = ask(Retry::new(script, steady())).await.0.unwrap_err();
    assert_eq!(
        error.to_string(),
        "authentication: no luck, after 2 attempts"
    );
}

#[tokio::test(start_paused = true)]
async fn the_longer_of_backoff_and_retry_after_is_waited() {
    let longer = ScriptedClient::default()
        .then(limited(Duration::from_secs(20)))
        .then(limited(Duration::ZERO))
        .then("Hi.");
    let (outcome, took) = ask(Retry::new(longer, steady())).await;
    assert_eq!(outcome.unwrap().text(), "Hi.");
    assert_took(took, Duration::from_secs(20 + 2));
}

#[tokio::test(start_paused = true)]
async fn jitter_leaves_the_servers_wait_alone_and_shortens_ones_own() {
    let jittered = Backoff::of::<2>().with_first(Duration::from_secs(8));
    let asked = ScriptedClient::default()
        .then(limited(Duration::from_secs(10)))
        .then("Hi.");
    assert_took(
        ask(Retry::new(asked, jittered)).await.1,
        Duration::from_secs(10),
    );

    let own = ScriptedClient::default()
        .then(fails(LlmErrorKind::Server))
        .then("Hi.");
    let took = ask(Retry::new(own, jittered)).await.1;
    assert!(
        (Duration::from_secs(4)..=Duration::from_millis(8003)).contains(&took),
        "{took:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn attempts_of_a_retry_inside_a_retry_are_all_counted() {
    let script = ScriptedClient::new([LlmErrorKind::Server; 4].map(fails));
    let inner = Retry::new(script.clone(), Backoff::of::<2>());
    let error = ask(Retry::new(inner, Backoff::of::<2>()))
        .await
        .0
        .unwrap_err();
    assert_eq!(error.attempts(), 4);
    assert_eq!(script.requests().len(), 4);
}

#[tokio::test(start_paused = true)]
async fn a_call_dropped_in_its_wait_leaves_the_client_ready() {
    let script = ScriptedClient::default()
        .then(limited(Duration::from_secs(50)))
        .then("Hi.");
    let client = Retry::new(script.clone(), steady());
    let dropped = tokio::time::timeout(Duration::from_secs(5), ask(&client)).await;
    assert!(dropped.is_err());
    assert_eq!(script.requests().len(), 1);
    assert_eq!(ask(&client).await.0.unwrap().text(), "Hi.");
}

#[tokio::test(start_paused = true)]
async fn a_wait_over_the_ceiling_is_reported_once_and_not_waited() {
    let script = ScriptedClient::new([61, 61].map(|wait| limited(Duration::from_secs(wait))));
    let inner = Retry::new(script.clone(), steady());
    let (outcome, took) = ask(Retry::new(inner, steady())).await;

    assert_eq!(
        outcome.unwrap_err().to_string(),
        "rate limit: slow down; not retried: the wait is over 60s (status 429, retry after 61s)"
    );
    assert_eq!(took, Duration::ZERO);
    assert_eq!(script.requests().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn the_ceiling_itself_is_still_waited_and_can_be_set() {
    for ceiling in [60, 600].map(Duration::from_secs) {
        let script = ScriptedClient::default().then(limited(ceiling)).then("Hi.");
        let client = Retry::new(script, steady()).with_retry_after_ceiling(ceiling);
        assert_took(ask(client).await.1, ceiling);
    }
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
    let script = ScriptedClient::default()
        .then(fails(LlmErrorKind::Server))
        .then("four");
    let embedder = Retry::new(Lengths(script), steady());
    assert_eq!(
        (embedder.model(), embedder.dimension()),
        ("lengths", Some(1))
    );

    let embeddings = embedder.embed(&["a".to_owned()]).await.unwrap();
    assert_eq!(embeddings.vectors(), [[4.0]]);
}
