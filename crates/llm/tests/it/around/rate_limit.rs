use std::time::Duration;

use cogwork_llm::{
    Backoff, ChatRequest, ChatResponse, LlmClient, LlmError, LlmErrorKind, RateLimit, Retry,
    ScriptedClient, ScriptedReply, Usage,
};
use futures_util::FutureExt;
use proptest::prelude::*;
use tokio::task::JoinHandle;
use tokio::time::Instant;

use crate::around::{ask, fails, follow, hello, saying, seconds};

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

/// A call with its outcome and the seconds that it took.
type Begun = JoinHandle<(u64, Result<ChatResponse, LlmError>)>;

/// Begins a call, so that it is in the queue when this returns.
fn begin<C: LlmClient + Clone + 'static>(client: &RateLimit<C>, request: ChatRequest) -> Begun {
    let start = Instant::now();
    let client = client.clone();
    let mut call = Box::pin(async move { client.complete(request).await });

    let first_poll = call.as_mut().now_or_never();
    tokio::spawn(async move {
        let outcome = match first_poll {
            Some(outcome) => outcome,
            None => call.await,
        };
        (start.elapsed().as_secs(), outcome)
    })
}

/// After how many seconds calls came through that began together.
async fn times(calls: impl IntoIterator<Item = Begun>) -> Vec<u64> {
    let mut times = Vec::new();
    for call in calls {
        let (seconds, outcome) = call.await.unwrap();
        outcome.unwrap();
        times.push(seconds);
    }

    times
}

#[tokio::test(start_paused = true)]
async fn the_calls_of_a_minute_begin_at_once_and_further_ones_in_turn() {
    let client = calls(2).with_max_wait(Duration::MAX);
    let begun: Vec<_> = (0..6).map(|_| begin(&client, hello())).collect();
    assert_eq!(times(begun).await, [0, 0, 30, 60, 90, 120]);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_would_wait_too_long_fails_at_once_and_says_how_long() {
    let client = calls(1).with_max_wait(seconds(70));
    let [first, second, third] = [hello(), hello(), hello()].map(|call| begin(&client, call));

    let (after, outcome) = third.await.unwrap();
    let error = outcome.unwrap_err();
    assert_eq!(after, 0);
    assert_eq!(error.kind(), LlmErrorKind::RateLimit);
    assert_eq!(
        error.to_string(),
        "rate limit: the limit of 1 calls per minute allows no further call within 70s (retry after 120s)"
    );
    assert_eq!(times([first, second]).await, [0, 60]);
}

#[tokio::test(start_paused = true)]
async fn a_wait_that_is_too_long_is_reported_once_and_not_retried() {
    let inner = calls(1).with_max_wait(seconds(10));
    let client = Retry::new(Retry::new(inner, Backoff::of::<3>()), Backoff::of::<3>());
    ask(&client).await.unwrap();

    let start = Instant::now();
    let error = ask(&client).await.unwrap_err();
    assert_eq!(start.elapsed(), Duration::ZERO);
    assert_eq!(error.attempts(), 1);
    assert!(!error.is_retryable());
    assert_eq!(
        error.to_string(),
        "rate limit: the limit of 1 calls per minute allows no further call within 10s (retry after 60s)"
    );
}

#[tokio::test(start_paused = true)]
async fn a_call_that_wakes_late_is_not_refused() {
    let client = calls(1);
    ask(&client).await.unwrap();

    let waiting = begin(&client, hello());
    tokio::time::advance(Duration::from_millis(60_001)).await;
    assert_eq!(times([waiting]).await, [60]);
}

#[tokio::test]
async fn calls_that_wait_by_a_real_clock_come_through() {
    let client = RateLimit::new(endless())
        .with_tokens_per_minute(6_000.try_into().unwrap())
        .with_max_wait(Duration::from_millis(300));
    client.complete(taking(6_000)).await.unwrap();

    let start = Instant::now();
    let begun: Vec<_> = (0..20).map(|_| begin(&client, taking(1))).collect();
    times(begun).await;
    assert!(start.elapsed() >= Duration::from_millis(180));
}

#[tokio::test]
async fn a_call_that_needs_no_wait_begins_though_none_is_allowed() {
    let client = calls(7).with_max_wait(Duration::ZERO);
    for _ in 0..7 {
        ask(&client).await.unwrap();
    }

    let error = ask(&client).await.unwrap_err();
    assert_eq!(error.kind(), LlmErrorKind::RateLimit);
}

#[tokio::test(start_paused = true)]
async fn a_small_call_does_not_overtake_a_large_one() {
    let client = tokens(endless());
    let begun = [40, 50, 1].map(|tokens| begin(&client, taking(tokens)));
    assert_eq!(times(begun).await, [0, 30, 31]);
}

#[tokio::test(start_paused = true)]
async fn a_call_over_the_limit_waits_for_a_full_bucket() {
    let client = tokens(endless()).with_max_wait(seconds(600));
    let begun = [10, 90, 1].map(|tokens| begin(&client, taking(tokens)));
    assert_eq!(times(begun).await, [0, 10, 41]);
}

#[tokio::test(start_paused = true)]
async fn calls_behind_a_dropped_one_move_up() {
    let client = calls(1).with_max_wait(seconds(200));
    let [first, second, third, fourth] =
        [hello(), hello(), hello(), hello()].map(|call| begin(&client, call));
    tokio::time::sleep(seconds(10)).await;
    third.abort();
    assert!(third.await.unwrap_err().is_cancelled());

    let fifth = begin(&client, hello());
    assert_eq!(
        times([first, second, fourth, fifth]).await,
        [0, 60, 120, 170]
    );
}

#[tokio::test(start_paused = true)]
async fn the_next_moves_up_when_the_first_in_the_queue_is_dropped() {
    let client = tokens(endless());
    let [first, large, small] = [40, 60, 20].map(|tokens| begin(&client, taking(tokens)));
    tokio::time::sleep(seconds(10)).await;
    large.abort();
    assert_eq!(times([first, small]).await, [0, 10]);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_took_fewer_tokens_lets_those_behind_it_begin_at_once() {
    let client = tokens(ScriptedClient::new([took(5, 20), took(50, 0), took(1, 0)]));
    let begun = [60, 50].map(|tokens| begin(&client, taking(tokens)));
    assert_eq!(times(begun).await, [20, 20]);
    assert_eq!(times([begin(&client, taking(10))]).await, [0]);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_took_more_tokens_delays_those_behind_it() {
    let client = tokens(ScriptedClient::new([took(100, 0), took(1, 0)]));
    client.complete(taking(10)).await.unwrap();
    assert_eq!(times([begin(&client, taking(20))]).await, [60]);
}

#[tokio::test(start_paused = true)]
async fn tokens_are_guessed_before_a_call_and_streams_counted_at_their_end() {
    let script = ScriptedClient::new([took(60, 0), took(60, 0), took(1, 0)]);
    let client = tokens(script);
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
    let script = ScriptedClient::default()
        .then(fails(LlmErrorKind::Server))
        .then("Hi.");
    let client = RateLimit::new(script).with_requests_per_minute(1.try_into().unwrap());
    let start = Instant::now();

    assert_eq!(ask(&client).await.unwrap_err().kind(), LlmErrorKind::Server);
    ask(&client).await.unwrap();
    assert_eq!(start.elapsed().as_secs(), 60);
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
        let mut begun = runtime.block_on(async {
            let client = RateLimit::new(endless())
                .with_requests_per_minute(requests.try_into().unwrap())
                .with_tokens_per_minute(60.try_into().unwrap())
                .with_max_wait(seconds(max_wait));

            let start = Instant::now();
            let mut tasks = Vec::new();
            for (pause, tokens, is_dropped) in calls {
                tokio::time::sleep(seconds(pause)).await;
                let call = begin(&client, taking(tokens));
                if is_dropped {
                    call.abort();
                } else {
                    tasks.push((start.elapsed().as_secs(), tokens, call));
                }
            }

            let mut begun = Vec::new();
            for (came, tokens, task) in tasks {
                let (waited, outcome) = task.await.unwrap();
                match outcome {
                    Ok(_) => begun.push((came + waited, tokens)),
                    Err(_) => assert_eq!(waited, 0),
                }
            }
            begun
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
