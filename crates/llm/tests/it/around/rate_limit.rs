use std::sync::{Arc, Mutex};
use std::time::Duration;

use cogwork_llm::{
    ChatRequest, ChatResponse, LlmClient, LlmError, LlmErrorKind, RateLimit, ScriptedClient,
    ScriptedReply, Usage, async_trait,
};
use futures_util::FutureExt;
use proptest::prelude::*;
use tokio::time::Instant;

use crate::around::{ask, fails, follow, hello, saying, seconds};

fn endless() -> ScriptedClient {
    ScriptedClient::new(vec!["Hi."; 1000])
}

/// The seconds after which each of so many calls, begun together, came through.
async fn times(client: &RateLimit<ScriptedClient>, calls: usize) -> Vec<u64> {
    let start = Instant::now();
    let calls: Vec<_> = (0..calls)
        .map(|_| {
            let client = client.clone();
            tokio::spawn(async move {
                ask(&client)
                    .await
                    .map(|_| start.elapsed().as_secs())
                    .unwrap()
            })
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
    let client = RateLimit::new(endless())
        .with_requests_per_minute(2.try_into().unwrap())
        .with_max_wait(seconds(600));
    assert_eq!(times(&client, 7).await, [0, 0, 60, 60, 120, 120, 180]);
}

#[tokio::test(start_paused = true)]
async fn the_minute_slides() {
    let client = RateLimit::new(endless()).with_requests_per_minute(2.try_into().unwrap());
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
    let client = RateLimit::new(endless())
        .with_requests_per_minute(1.try_into().unwrap())
        .with_max_wait(seconds(10));
    ask(&client).await.unwrap();
    tokio::time::sleep(seconds(20)).await;
    let start = Instant::now();
    let error = ask(&client).await.unwrap_err();

    assert_eq!(start.elapsed(), Duration::ZERO);
    assert_eq!(
        error.to_string(),
        "rate limit: the client's limit allows no call within 10s (retry after 40s)"
    );
    tokio::time::sleep(seconds(30)).await;
    assert!(ask(&client).await.is_ok());
}

/// Begins a call, so that it is in the queue when this returns; what it will come to, and when.
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

type Begun = tokio::task::JoinHandle<(u64, Result<ChatResponse, LlmError>)>;

/// After how many seconds a call came through.
async fn came_through(call: Begun) -> u64 {
    let (seconds, outcome) = call.await.unwrap();
    outcome.unwrap();
    seconds
}

/// After how many seconds a call was sent away, and how long it was told to wait.
async fn sent_away(call: Begun) -> (u64, u64) {
    let (seconds, outcome) = call.await.unwrap();
    let error = outcome.unwrap_err();
    assert_eq!(error.kind(), LlmErrorKind::RateLimit);

    (seconds, error.retry_after().unwrap().as_secs())
}

fn taking(tokens: u32) -> ChatRequest {
    ChatRequest::default().with_max_tokens(tokens)
}

/// A reply that comes after so many seconds, and says that it took so many tokens.
fn took(tokens: u64, after: u64) -> ScriptedReply {
    ScriptedReply::from(ChatResponse::new("Hi.").with_usage(Usage::new(tokens, 0)))
        .after(seconds(after))
}

#[tokio::test(start_paused = true)]
async fn the_calls_before_it_in_the_queue_count() {
    let client = RateLimit::new(endless())
        .with_requests_per_minute(1.try_into().unwrap())
        .with_max_wait(seconds(70));
    let calls = [hello(), hello(), hello(), hello()].map(|request| begin(&client, request));
    let [first, second, third, fourth] = calls;

    assert_eq!(sent_away(third).await, (0, 120));
    assert_eq!(sent_away(fourth).await, (0, 120));
    assert_eq!(came_through(first).await, 0);
    assert_eq!(came_through(second).await, 60);
}

#[tokio::test(start_paused = true)]
async fn the_tokens_of_the_calls_before_it_in_the_queue_count() {
    let client = RateLimit::new(endless())
        .with_tokens_per_minute(100.try_into().unwrap())
        .with_max_wait(seconds(70));
    let [first, second, third, fourth] =
        [60, 60, 60, 40].map(|tokens| begin(&client, taking(tokens)));

    // The third would have to wait for the second to be a minute old, and the fourth fits in beside it.
    assert_eq!(sent_away(third).await, (0, 120));
    assert_eq!(came_through(first).await, 0);
    assert_eq!(came_through(second).await, 60);
    assert_eq!(came_through(fourth).await, 60);
}

#[tokio::test(start_paused = true)]
async fn a_small_call_does_not_overtake_a_large_one() {
    let client = RateLimit::new(endless()).with_tokens_per_minute(100.try_into().unwrap());
    let [first, large, small] = [60, 60, 1].map(|tokens| begin(&client, taking(tokens)));

    assert_eq!(came_through(first).await, 0);
    assert_eq!(came_through(large).await, 60);
    assert_eq!(came_through(small).await, 60);
}

#[tokio::test(start_paused = true)]
async fn a_call_dropped_in_the_queue_leaves_its_place() {
    let client = RateLimit::new(endless()).with_requests_per_minute(1.try_into().unwrap());
    ask(&client).await.unwrap();
    assert!(
        tokio::time::timeout(seconds(5), ask(&client))
            .await
            .is_err()
    );

    let start = Instant::now();
    ask(&client).await.unwrap();
    assert_eq!(start.elapsed().as_secs(), 55);
}

#[tokio::test(start_paused = true)]
async fn those_behind_a_dropped_call_move_up() {
    let client = RateLimit::new(endless())
        .with_requests_per_minute(1.try_into().unwrap())
        .with_max_wait(seconds(200));
    let [first, second, third, fourth] =
        [hello(), hello(), hello(), hello()].map(|r| begin(&client, r));
    tokio::time::sleep(seconds(10)).await;
    third.abort();
    assert!(third.await.unwrap_err().is_cancelled());

    // It has its place, and not one behind it.
    let fifth = begin(&client, hello());
    assert_eq!(came_through(first).await, 0);
    assert_eq!(came_through(second).await, 60);
    assert_eq!(came_through(fourth).await, 120);
    assert_eq!(came_through(fifth).await, 170);
}

#[tokio::test(start_paused = true)]
async fn the_next_moves_up_when_the_first_in_the_queue_is_dropped() {
    let client = RateLimit::new(endless()).with_tokens_per_minute(100.try_into().unwrap());
    let [first, large, small] = [60, 60, 40].map(|tokens| begin(&client, taking(tokens)));
    tokio::time::sleep(seconds(10)).await;
    large.abort();

    assert_eq!(came_through(first).await, 0);
    assert_eq!(came_through(small).await, 10);
}

/// Returns the bytes that are allocated when all calls of a queue are dropped.
fn dropping(calls: usize, is_last_first: bool) -> u64 {
    let client = RateLimit::new(endless())
        .with_requests_per_minute(1.try_into().unwrap())
        .with_max_wait(Duration::from_secs(60 * 60 * 24 * 365));

    let mut waiting: Vec<_> = (0..calls).map(|_| Box::pin(ask(&client))).collect();
    for call in &mut waiting {
        let _ = call.now_or_never();
    }

    if is_last_first {
        waiting.reverse();
    }

    allocation_counter::measure(|| drop(waiting)).bytes_total
}

#[tokio::test(start_paused = true)]
async fn dropping_twice_the_calls_takes_twice_the_work() {
    for is_last_first in [false, true] {
        let short = dropping(500, is_last_first);
        let long = dropping(1000, is_last_first);
        assert!(long <= 2 * short + 4096, "{short} and {long} bytes");
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_took_fewer_tokens_lets_those_behind_it_begin_at_once() {
    let script = ScriptedClient::new([took(10, 20), took(50, 0), took(50, 0)]);
    let client = RateLimit::new(script)
        .with_tokens_per_minute(100.try_into().unwrap())
        .with_max_wait(seconds(70));
    let [first, second] = [90, 50].map(|tokens| begin(&client, taking(tokens)));

    assert_eq!(came_through(first).await, 20);
    assert_eq!(came_through(second).await, 20);

    // There is room for one that would have been sent away before.
    assert_eq!(came_through(begin(&client, taking(40))).await, 0);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_took_more_tokens_sends_those_away_that_would_wait_for_too_long() {
    let script = ScriptedClient::new([took(10, 0), took(90, 20), took(60, 0), took(1, 0)]);
    let client = RateLimit::new(script)
        .with_tokens_per_minute(100.try_into().unwrap())
        .with_max_wait(seconds(40));
    let first = begin(&client, taking(10));
    tokio::time::sleep(seconds(30)).await;

    let second = begin(&client, taking(40));
    tokio::time::sleep(seconds(1)).await;
    let third = begin(&client, taking(60));
    let patient = begin(&client.clone().with_max_wait(seconds(100)), taking(70));

    assert_eq!(came_through(first).await, 0);
    assert_eq!(came_through(second).await, 20);

    // At 31 it was to begin at 60. At 50 it is known that it could only begin at 90.
    assert_eq!(sent_away(third).await, (19, 40));
    assert_eq!(came_through(patient).await, 59);
}

#[tokio::test(start_paused = true)]
async fn tokens_are_guessed_before_a_call_and_counted_after_it() {
    let script =
        ScriptedClient::new([took(10, 0), took(95, 0), took(1, 0), took(1, 0), took(1, 0)]);
    let client = RateLimit::new(script).with_tokens_per_minute(100.try_into().unwrap());
    let start = Instant::now();

    // 25 guessed tokens and 75 that it may write; 10 in the end.
    client
        .complete(saying(&"x".repeat(100)).with_max_tokens(75))
        .await
        .unwrap();
    client.complete(hello()).await.unwrap();
    assert_eq!(start.elapsed().as_secs(), 0);

    // 10 and 95 are over the limit.
    client.complete(hello()).await.unwrap();
    assert_eq!(start.elapsed().as_secs(), 60);

    // One that is over the limit by itself goes alone.
    client
        .complete(hello().with_max_tokens(1_000_000))
        .await
        .unwrap();
    assert_eq!(start.elapsed().as_secs(), 120);
}

#[tokio::test(start_paused = true)]
async fn a_stream_counts_what_it_took_at_its_end() {
    let script = ScriptedClient::new([took(100, 0), took(1, 0)]);
    let client = RateLimit::new(script).with_tokens_per_minute(100.try_into().unwrap());
    follow(&client).await.unwrap();
    let start = Instant::now();

    follow(&client).await.unwrap();
    assert_eq!(start.elapsed().as_secs(), 60);
}

#[tokio::test(start_paused = true)]
async fn failures_pass_and_count_as_calls() {
    let script = ScriptedClient::default()
        .then(fails(LlmErrorKind::Server))
        .then("Hi.");
    let client = RateLimit::new(script).with_requests_per_minute(1.try_into().unwrap());
    assert_eq!(ask(&client).await.unwrap_err().kind(), LlmErrorKind::Server);
    let start = Instant::now();

    ask(&client).await.unwrap();
    assert_eq!(start.elapsed().as_secs(), 60);
}

#[tokio::test(start_paused = true)]
async fn the_longest_wait_is_taken() {
    let client = RateLimit::new(endless())
        .with_requests_per_minute(1.try_into().unwrap())
        .with_max_wait(Duration::MAX);
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
        self.begun
            .lock()
            .unwrap()
            .push((Instant::now(), request.max_tokens().unwrap().into()));
        self.script.complete(request).await
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(60) })]

    #[test]
    fn in_no_minute_are_there_more_calls_or_tokens_than_allowed_and_who_waits_comes_through_in_time(
        calls in prop::collection::vec((0_u64..40, 0_u64..30, 1_u32..200), 1..30),
        requests in 1_u32..5,
        tokens in 50_u64..400,
        max_wait in prop_oneof![0_u64..300, Just(100_000)],
    ) {
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        let begun: Arc<Mutex<Vec<(Instant, u64)>>> = Arc::default();
        let outcomes = runtime.block_on(async {
            let script = ScriptedClient::new(calls.iter().map(|(_, lasts, _)| {
                ScriptedReply::from("").after(seconds(*lasts))
            }));
            let client = RateLimit::new(Timed { script, begun: begun.clone() })
                .with_requests_per_minute(requests.try_into().unwrap())
                .with_tokens_per_minute(tokens.try_into().unwrap())
                .with_max_wait(seconds(max_wait));
            let mut tasks = Vec::new();
            for (pause, _, tokens) in calls {
                tokio::time::sleep(seconds(pause)).await;
                tasks.push((Instant::now(), tokens, begin(&client, taking(tokens))));
            }
            let mut outcomes = Vec::new();
            for (came, tokens, task) in tasks {
                let (took, outcome) = task.await.unwrap();
                outcomes.push((came, tokens, took, outcome.is_ok()));
            }
            outcomes
        });

        let begun = begun.lock().unwrap();
        for (place, (start, _)) in begun.iter().enumerate() {
            let minute: Vec<u64> =
                begun[place..].iter().take_while(|(at, _)| *at < *start + seconds(60)).map(|(_, tokens)| *tokens).collect();
            prop_assert!(minute.len() <= requests as usize, "{:?}", minute);
            prop_assert!(minute.len() == 1 || minute.iter().sum::<u64>() <= tokens, "{:?}", minute);
        }

        // In the order in which they came, each within its time; the others were sent away when they came.
        let came: Vec<_> = outcomes.iter().filter(|(_, _, _, is_ok)| *is_ok).collect();
        prop_assert_eq!(came.len(), begun.len());
        for ((came, tokens, _, _), (at, begun_tokens)) in came.into_iter().zip(begun.iter()) {
            prop_assert_eq!(u64::from(*tokens), *begun_tokens);
            prop_assert!(at.duration_since(*came) <= seconds(max_wait));
        }
        for (_, _, took, is_ok) in &outcomes {
            prop_assert!(*is_ok || *took == 0);
        }
    }
}
