use std::sync::{Arc, Mutex};
use std::time::Duration;

use cogwork_llm::{
    ChatRequest, ChatResponse, LlmClient, LlmError, LlmErrorKind, RateLimit, ScriptedClient, ScriptedReply,
    Usage, async_trait,
};
use proptest::prelude::*;
use tokio::time::Instant;

use crate::{ask, fails, follow, hello, saying, seconds};

fn endless() -> ScriptedClient {
    ScriptedClient::new(vec!["Hi."; 1000])
}

/// The seconds after which each of so many calls, begun together, came through.
async fn times(client: &RateLimit<ScriptedClient>, calls: usize) -> Vec<u64> {
    let start = Instant::now();
    let calls: Vec<_> = (0..calls)
        .map(|_| {
            let client = client.clone();
            tokio::spawn(async move { ask(&client).await.map(|_| start.elapsed().as_secs()).unwrap() })
        })
        .collect();
    let mut times = Vec::new();
    for call in calls {
        times.push(call.await.unwrap());
    }
    times
}

#[tokio::test(start_paused = true)]
async fn calls_over_the_limit_wait_for_the_minute_to_pass_in_their_order() {
    let client = RateLimit::new(endless()).requests_per_minute(2.try_into().unwrap()).max_wait(seconds(600));
    assert_eq!(times(&client, 7).await, [0, 0, 60, 60, 120, 120, 180]);
}

#[tokio::test(start_paused = true)]
async fn the_minute_slides() {
    let client = RateLimit::new(endless()).requests_per_minute(2.try_into().unwrap());
    let start = Instant::now();
    for expected in [0, 40, 60, 100, 120] {
        ask(&client).await.unwrap();
        assert_eq!(start.elapsed().as_secs(), expected);
        if expected == 0 {
            tokio::time::sleep(seconds(40)).await;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_would_wait_too_long_fails_at_once_and_says_how_long() {
    let client = RateLimit::new(endless()).requests_per_minute(1.try_into().unwrap()).max_wait(seconds(10));
    ask(&client).await.unwrap();
    tokio::time::sleep(seconds(20)).await;
    let start = Instant::now();
    let error = ask(&client).await.unwrap_err();
    assert_eq!(start.elapsed(), Duration::ZERO);
    assert_eq!(
        error.to_string(),
        "rate limit: the client's own limit leaves no room within 10s (retry after 40s)"
    );
    tokio::time::sleep(seconds(30)).await;
    assert!(ask(&client).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn the_wait_in_the_queue_counts_too() {
    let client = RateLimit::new(endless()).requests_per_minute(1.try_into().unwrap()).max_wait(seconds(70));
    ask(&client).await.unwrap();
    let second = client.clone();
    let second = tokio::spawn(async move { ask(&second).await });
    tokio::task::yield_now().await;
    let start = Instant::now();
    let error = ask(&client).await.unwrap_err();
    assert_eq!(error.kind(), LlmErrorKind::RateLimit);
    // Once the one before it is through at 60, the next minute is further than 70.
    assert_eq!(start.elapsed().as_secs(), 60);
    second.await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_call_dropped_in_the_queue_leaves_its_place() {
    let client = RateLimit::new(endless()).requests_per_minute(1.try_into().unwrap());
    ask(&client).await.unwrap();
    assert!(tokio::time::timeout(seconds(5), ask(&client)).await.is_err());
    let start = Instant::now();
    ask(&client).await.unwrap();
    assert_eq!(start.elapsed().as_secs(), 55);
}

#[tokio::test(start_paused = true)]
async fn tokens_are_guessed_before_a_call_and_counted_after_it() {
    let took = |tokens| ChatResponse::new("Hi.").with_usage(Usage::new(tokens, 0));
    let script = ScriptedClient::new([took(10), took(95), took(1), took(1), took(1)]);
    let client = RateLimit::new(script).tokens_per_minute(100.try_into().unwrap());
    let start = Instant::now();
    // 25 guessed tokens and 75 that it may write; 10 in the end.
    client.complete(saying(&"x".repeat(100)).with_max_tokens(75)).await.unwrap();
    client.complete(hello()).await.unwrap();
    assert_eq!(start.elapsed().as_secs(), 0);
    // 10 and 95 are over the limit.
    client.complete(hello()).await.unwrap();
    assert_eq!(start.elapsed().as_secs(), 60);
    // One that is over the limit by itself goes alone.
    client.complete(hello().with_max_tokens(1_000_000)).await.unwrap();
    assert_eq!(start.elapsed().as_secs(), 120);
}

#[tokio::test(start_paused = true)]
async fn a_stream_counts_what_it_took_at_its_end() {
    let took = |tokens| ChatResponse::new("Hi.").with_usage(Usage::new(tokens, 0));
    let script = ScriptedClient::new([took(100), took(1)]);
    let client = RateLimit::new(script).tokens_per_minute(100.try_into().unwrap());
    follow(&client).await.unwrap();
    let start = Instant::now();
    follow(&client).await.unwrap();
    assert_eq!(start.elapsed().as_secs(), 60);
}

#[tokio::test(start_paused = true)]
async fn failures_pass_and_count_as_calls() {
    let script = ScriptedClient::default().then(fails(LlmErrorKind::Server)).then("Hi.");
    let client = RateLimit::new(script).requests_per_minute(1.try_into().unwrap());
    assert_eq!(ask(&client).await.unwrap_err().kind(), LlmErrorKind::Server);
    let start = Instant::now();
    ask(&client).await.unwrap();
    assert_eq!(start.elapsed().as_secs(), 60);
}

#[tokio::test(start_paused = true)]
async fn the_longest_wait_is_taken() {
    let client = RateLimit::new(endless()).requests_per_minute(1.try_into().unwrap()).max_wait(Duration::MAX);
    assert_eq!(times(&client, 3).await, [0, 60, 120]);
}

/// Keeps when each call came, and how many tokens it may take.
#[derive(Clone)]
struct Timed {
    script: ScriptedClient,
    begun: Arc<Mutex<Vec<(Instant, u64)>>>,
}

#[async_trait]
impl LlmClient for Timed {
    async fn complete(&self, request: ChatRequest) -> Result<ChatResponse, LlmError> {
        self.begun.lock().unwrap().push((Instant::now(), request.max_tokens().unwrap().into()));
        self.script.complete(request).await
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(60) })]

    #[test]
    fn in_no_minute_are_there_more_calls_or_tokens_than_allowed(
        calls in prop::collection::vec((0_u64..40, 0_u64..30, 1_u32..200), 1..30),
        requests in 1_u32..5,
        tokens in 50_u64..400,
    ) {
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        let begun: Arc<Mutex<Vec<(Instant, u64)>>> = Arc::default();
        runtime.block_on(async {
            let script = ScriptedClient::new(calls.iter().map(|(_, lasts, _)| {
                ScriptedReply::from("").after(seconds(*lasts))
            }));
            let client = RateLimit::new(Timed { script, begun: begun.clone() })
                .requests_per_minute(requests.try_into().unwrap())
                .tokens_per_minute(tokens.try_into().unwrap())
                .max_wait(seconds(100_000));
            let mut tasks = Vec::new();
            for (pause, _, tokens) in calls {
                tokio::time::sleep(seconds(pause)).await;
                let client = client.clone();
                let request = ChatRequest::default().with_max_tokens(tokens);
                tasks.push(tokio::spawn(async move { client.complete(request).await.unwrap() }));
            }
            for task in tasks {
                task.await.unwrap();
            }
        });
        let begun = begun.lock().unwrap();
        for (place, (start, _)) in begun.iter().enumerate() {
            let minute: Vec<u64> =
                begun[place..].iter().take_while(|(at, _)| *at < *start + seconds(60)).map(|(_, tokens)| *tokens).collect();
            prop_assert!(minute.len() <= requests as usize, "{:?}", minute);
            prop_assert!(minute.len() == 1 || minute.iter().sum::<u64>() <= tokens, "{:?}", minute);
        }
    }
}
