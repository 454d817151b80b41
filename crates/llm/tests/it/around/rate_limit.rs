use std::time::Duration;

use cogwork_llm::layers::{Backoff, RateLimit, Retry};
use cogwork_llm::{
    ChatRequest, ChatResponse, LlmClient, LlmErrorKind, ScriptedClient, ScriptedReply, Usage,
};
use futures_util::future::join_all;
use proptest::prelude::*;
use tokio::time::{Instant, timeout};

use crate::around::{ask, fails, follow, saying, seconds};
use crate::table::check;

fn endless() -> ScriptedClient {
    ScriptedClient::new(vec!["Hi."; 1000])
}

/// Allows this number of calls per minute.
fn calls(number: u32) -> RateLimit<ScriptedClient> {
    RateLimit::new(endless()).with_requests_per_minute(number.try_into().unwrap())
}

/// Allows 60 tokens per minute, one in each second.
fn tokens(script: ScriptedClient) -> RateLimit<ScriptedClient> {
    RateLimit::new(script).with_tokens_per_minute(60.try_into().unwrap())
}

fn taking(tokens: u32) -> ChatRequest {
    ChatRequest::default().with_max_tokens(tokens)
}

/// A reply that comes after so many seconds, and says that it took so many tokens.
fn took(tokens: u64, after: u64) -> ScriptedReply {
    ScriptedReply::from(ChatResponse::new("Hi.").with_usage(Usage::new(tokens, 0)))
        .after(seconds(after))
}

/// Makes calls of so many tokens at once, of which those with an `x` are dropped after ten seconds.
/// Tells after how many seconds each came through.
async fn times(client: &impl LlmClient, calls: &str) -> String {
    let start = Instant::now();
    let calls = calls.split(' ').map(async |call| {
        let (tokens, patience) = match call.strip_suffix('x') {
            Some(tokens) => (tokens, 10),
            None => (call, 10_000),
        };
        let call = client.complete(taking(tokens.parse().unwrap()));
        match timeout(seconds(patience), call).await {
            Ok(Ok(_)) => start.elapsed().as_secs().to_string(),
            Ok(Err(_)) => format!("refused at {}", start.elapsed().as_secs()),
            Err(_) => "dropped".to_owned(),
        }
    });
    join_all(calls).await.join(" ")
}

#[tokio::test(start_paused = true)]
async fn calls_begin_in_turn_as_soon_as_the_limits_allow() {
    // In each row, the limit per minute, the longest wait, and the calls.
    let table = "
        2 calls, 600: 0 0 0 0 0 0 => 0 0 30 60 90 120
        1 calls, 70: 0 0 0 => 0 60 refused at 0
        7 calls, 0: 0 0 0 0 0 0 0 0 => 0 0 0 0 0 0 0 refused at 0
        1 calls, 200: 0 0 0x 0 => 0 60 dropped 180
        60 tokens, 60: 40 50 1 => 0 30 31
        60 tokens, 600: 10 90 1 => 0 10 41
        60 tokens, 60: 40 60x 20 => 0 dropped 60
    ";
    check(table, async |row| {
        let (settings, calls_made) = row.split_once(": ").unwrap();
        let (limit, wait) = settings.split_once(", ").unwrap();
        let client = match limit.split_once(' ').unwrap() {
            (number, "calls") => calls(number.parse().unwrap()),
            _ => tokens(endless()),
        };
        let client = client.with_max_wait(seconds(wait.parse().unwrap()));
        times(&client, calls_made).await
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_wait_that_is_too_long_is_reported_once_and_not_retried() {
    let inner = calls(1).with_max_wait(seconds(10));
    let client = Retry::new(Retry::new(inner, Backoff::of::<3>()), Backoff::of::<3>());
    ask(&client).await.unwrap();

    let start = Instant::now();
    let error = ask(&client).await.unwrap_err();
    assert_eq!((start.elapsed(), error.attempts()), (Duration::ZERO, 1));
    assert_eq!(error.kind(), LlmErrorKind::RateLimit);
    assert!(!error.is_retryable());
    insta::assert_snapshot!(error, @"rate limit: the limit of 1 calls per minute allows no further call within 10s (retry after 60s)");
}

#[tokio::test(start_paused = true)]
async fn a_call_that_wakes_late_is_not_refused() {
    let client = calls(1);
    ask(&client).await.unwrap();
    let late = async { tokio::time::advance(Duration::from_millis(60_001)).await };
    let (came, ()) = tokio::join!(times(&client, "0"), late);
    assert_eq!(came, "60");
}

#[tokio::test(start_paused = true)]
async fn what_a_call_took_counts_for_those_behind_it() {
    let client = tokens(ScriptedClient::new([took(5, 20), took(50, 0), took(1, 0)]));
    assert_eq!(times(&client, "60").await, "20");
    assert_eq!(times(&client, "50").await, "0");
    assert_eq!(times(&client, "10").await, "0");

    let client = tokens(ScriptedClient::new([took(100, 0), took(1, 0)]));
    assert_eq!(times(&client, "10").await, "0");
    assert_eq!(times(&client, "20").await, "60");
}

#[tokio::test(start_paused = true)]
async fn tokens_are_guessed_before_a_call_and_streams_counted_at_their_end() {
    let client = tokens(ScriptedClient::new([took(60, 0), took(60, 0), took(1, 0)]));
    let start = Instant::now();

    // 25 guessed tokens and 35 that it may write.
    let request = saying(&"x".repeat(100)).with_max_tokens(35);
    client.complete(request).await.unwrap();
    client.complete(taking(30)).await.unwrap();
    assert_eq!(start.elapsed().as_secs(), 30);

    follow(&client).await.unwrap();
    assert_eq!(start.elapsed().as_secs(), 62);
}

#[tokio::test(start_paused = true)]
async fn failures_pass_and_count_as_calls() {
    let script = ScriptedClient::new([fails(LlmErrorKind::Server)]).then("Hi.");
    let client = RateLimit::new(script).with_requests_per_minute(1.try_into().unwrap());
    assert_eq!(times(&client, "0 0").await, "refused at 0 60");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(60) })]

    #[test]
    fn no_more_calls_or_tokens_begin_than_a_bucket_holds_and_refills(
        calls in prop::collection::vec((0_u64..40, 1_u32..60, any::<bool>()), 1..30),
        requests in 1_u32..5,
        max_wait in 0_u64..300,
    ) {
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        let mut begun: Vec<(u64, u32)> = runtime.block_on(async {
            let client = tokens(endless())
                .with_requests_per_minute(requests.try_into().unwrap())
                .with_max_wait(seconds(max_wait));
            let (client, start, mut came) = (&client, Instant::now(), 0);
            let calls = calls.iter().map(|(pause, tokens, is_dropped)| {
                came += pause;
                async move {
                    tokio::time::sleep_until(start + seconds(came)).await;
                    let patience = seconds(if *is_dropped { 1 } else { 10_000 });
                    let outcome = timeout(patience, client.complete(taking(*tokens))).await.ok()?;
                    let now = start.elapsed().as_secs();
                    assert!(outcome.is_ok() || now == came);
                    outcome.is_ok().then_some((now, *tokens))
                }
            });
            join_all(calls).await.into_iter().flatten().collect()
        });
        begun.sort();

        for (place, (start, _)) in begun.iter().enumerate() {
            let (mut count, mut tokens) = (0.0, 0.0);
            for (at, taken) in &begun[place..] {
                count += 1.0;
                tokens += f64::from(*taken);
                let minutes = 1.0 + (*at + 1 - *start) as f64 / 60.0;
                prop_assert!(count <= minutes * f64::from(requests), "{begun:?}");
                prop_assert!(tokens <= minutes * 60.0, "{begun:?}");
            }
        }
    }
}
