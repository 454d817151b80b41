//! Requests are fitted into what is left of the limits.

use std::time::Duration;

use cogwork_llm::{ChatRequest, ChatResponse, Message, Usage};
use cogwork_typed::ask::{Limit, Limits, Meter, Spent};
use proptest::prelude::*;

fn request(bytes: usize) -> ChatRequest {
    ChatRequest::new([Message::user("a".repeat(bytes))])
}

fn meter(tokens: u64, bytes: u64) -> Meter {
    let limits = Limits::default().with_tokens(tokens).with_bytes(bytes);
    Meter::new(limits, Spent::default())
}

fn max_tokens(meter: Meter, request: ChatRequest) -> Result<Option<u32>, Limit> {
    let fitted = meter.fit(request, 1)?;
    Ok(fitted.max_tokens())
}

#[test]
fn the_reply_may_take_what_the_request_leaves() {
    let left = || meter(1_000, u64::MAX);

    assert_eq!(max_tokens(left(), request(400)), Ok(Some(900)));
    assert_eq!(
        max_tokens(left(), request(400).with_max_tokens(50)),
        Ok(Some(50))
    );
    assert_eq!(
        max_tokens(left(), request(400).with_max_tokens(5_000)),
        Ok(Some(900))
    );
}

#[test]
fn a_request_without_a_limit_gets_none_while_there_is_room_for_any_reply() {
    let assumed = 8_192;

    let left = meter(100 + assumed, u64::MAX);
    assert_eq!(max_tokens(left, request(400)), Ok(None));

    let left = meter(99 + assumed, u64::MAX);
    assert_eq!(max_tokens(left, request(400)), Ok(Some(8_191)));
}

#[test]
fn a_request_that_leaves_no_room_for_a_reply_is_refused() {
    assert_eq!(max_tokens(meter(164, u64::MAX), request(400)), Ok(Some(64)));

    for tokens in [0, 99, 100, 163] {
        let left = meter(tokens, u64::MAX);
        assert_eq!(max_tokens(left, request(400)), Err(Limit::Tokens(tokens)));
    }
    for bytes in [0, 400, 655] {
        let left = meter(u64::MAX, bytes);
        assert_eq!(max_tokens(left, request(400)), Err(Limit::Bytes(bytes)));
    }
}

#[test]
fn bytes_limit_the_reply_too() {
    let left = meter(u64::MAX, 800);
    assert_eq!(max_tokens(left, request(400)), Ok(Some(100)));
}

#[test]
fn the_bytes_of_all_texts_are_counted_whether_or_not_usage_is_reported() {
    let request = request(400);
    let response = ChatResponse::new("four").with_usage(Usage::new(1, 1));

    let mut spent = Spent::default();
    spent.count_tokens(&request, &response);
    spent.count_tokens(&request, &ChatResponse::new("four"));
    assert_eq!(spent.bytes, 808);

    let saved = serde_json::to_string(&spent).unwrap();
    assert_eq!(serde_json::from_str::<Spent>(&saved).unwrap(), spent);
}

proptest! {
    /// Two calls, the second one with the conversation of the first and its reply, spend at most what is left.
    #[test]
    fn what_is_kept_for_the_last_request_suffices(
        tokens in 0_u64..20_000,
        bytes in 0_u64..80_000,
        length in 0_usize..10_000,
        reserve in 64_u64..2_000,
    ) {
        let meter = meter(tokens, bytes);
        let mut limits = Limits::default();
        limits.reserve_tokens = Some(reserve);
        meter.keep(Some(limits.reserve(std::iter::empty())));
        let Ok(first) = meter.fit(request(length), 1) else {
            return Ok(());
        };

        let room = u64::from(first.max_tokens().unwrap_or(8_192));
        prop_assert!(room >= reserve);
        meter.begin(&first).end(&ChatResponse::new("b".repeat(room as usize * 4)));

        meter.keep(None);
        let last = meter.fit(request(length + room as usize * 4), 1).unwrap();
        prop_assert!(u64::from(last.max_tokens().unwrap_or(8_192)) >= reserve - 1);
    }
}

#[test]
fn calls_at_the_same_time_share_what_is_left() {
    let meter = meter(2_000, u64::MAX);
    let first = meter.fit(request(400), 2).unwrap();
    assert_eq!(first.max_tokens(), Some(900));

    let running = meter.begin(&first);
    let second = meter.fit(request(400), 1).unwrap();
    assert_eq!(second.max_tokens(), Some(900));

    // What a call didn't spend is left for the next one.
    running.end(&ChatResponse::new("b".repeat(400)));
    let third = meter.fit(request(400), 1).unwrap();
    assert_eq!(third.max_tokens(), Some(1_700));
}

#[tokio::test(start_paused = true)]
async fn time_with_several_calls_counts_once() {
    let meter = Meter::default();
    let first = meter.begin(&request(1));
    tokio::time::sleep(Duration::from_secs(2)).await;
    let second = meter.begin(&request(1));
    tokio::time::sleep(Duration::from_secs(3)).await;
    drop((first, second));

    tokio::time::sleep(Duration::from_secs(9)).await;
    assert_eq!(meter.spent().time, Duration::from_secs(5));
    assert_eq!(meter.spent().calls, 2);
}

#[tokio::test(start_paused = true)]
async fn the_time_of_recorded_calls_brings_the_deadline_forward() {
    let limits = Limits::default().with_time(Duration::from_secs(10));
    let meter = Meter::new(limits, Spent::default());
    let replay = async {
        meter.add_time(Duration::from_secs(7));
        std::future::pending::<()>().await
    };

    let started = tokio::time::Instant::now();
    let _running = meter.run();
    let ended = meter.limit(replay).await;
    assert_eq!(ended, Err(Limit::Time(Duration::from_secs(10))));
    assert_eq!(started.elapsed(), Duration::from_secs(3));
}
