//! Requests are fitted into what is left of the limits.

use std::time::Duration;

use cogwork_llm::{ChatRequest, ChatResponse, Message};
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

proptest! {
    /// Two calls, the second one with the conversation of the first and its reply, spend at most what is left.
    #[test]
    fn what_is_kept_for_the_last_request_suffices(
        tokens in 0_u64..20_000,
        bytes in 0_u64..80_000,
        length in 0_usize..10_000,
        reserve in 512_u64..2_000,
    ) {
        let meter = meter(tokens, bytes);
        let longest = std::iter::once((reserve, Duration::ZERO));
        meter.keep(Some(Limits::default().reserve(longest)));
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

/// With the real clock, because a paused one advances exactly to the end of a timer.
#[tokio::test]
async fn a_limit_on_time_ends_a_call_without_an_answer() {
    for time in [1, 50].map(Duration::from_millis) {
        let meter = Meter::new(Limits::default().with_time(time), Spent::default());
        let limited = meter.limit(std::future::pending::<()>());
        let limited = tokio::time::timeout(Duration::from_secs(20), limited).await;
        assert_eq!(limited, Ok(Err(Limit::Time(time))));
    }
}
