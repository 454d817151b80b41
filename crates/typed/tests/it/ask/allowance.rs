//! Requests are fitted into what is left of the limits.

use cogwork_llm::{ChatRequest, ChatResponse, Message, Usage};
use cogwork_typed::ask::{Allowance, Exceeded, Spent};
use proptest::prelude::*;

fn request(bytes: usize) -> ChatRequest {
    ChatRequest::new([Message::user("a".repeat(bytes))])
}

fn max_tokens(allowance: Allowance, request: ChatRequest) -> Result<Option<u32>, Exceeded> {
    allowance.fit(request).map(|fitted| fitted.max_tokens())
}

#[test]
fn the_reply_may_take_what_the_request_leaves() {
    let left = Allowance::new(1_000, u64::MAX);

    assert_eq!(max_tokens(left, request(400)), Ok(Some(900)));
    assert_eq!(
        max_tokens(left, request(400).with_max_tokens(50)),
        Ok(Some(50))
    );
    assert_eq!(
        max_tokens(left, request(400).with_max_tokens(5_000)),
        Ok(Some(900))
    );
}

#[test]
fn a_request_without_a_limit_gets_none_while_there_is_room_for_any_reply() {
    let assumed = u64::from(Allowance::ASSUMED_REPLY_TOKENS);

    let left = Allowance::new(100 + assumed, u64::MAX);
    assert_eq!(max_tokens(left, request(400)), Ok(None));

    let left = Allowance::new(99 + assumed, u64::MAX);
    assert_eq!(max_tokens(left, request(400)), Ok(Some(8_191)));
}

#[test]
fn a_request_that_leaves_no_room_for_a_reply_is_refused() {
    assert_eq!(
        max_tokens(Allowance::new(164, u64::MAX), request(400)),
        Ok(Some(64))
    );

    for tokens in [0, 99, 100, 163] {
        let left = Allowance::new(tokens, u64::MAX);
        assert_eq!(max_tokens(left, request(400)), Err(Exceeded::Tokens));
    }
    for bytes in [0, 400, 655] {
        let left = Allowance::new(u64::MAX, bytes);
        assert_eq!(max_tokens(left, request(400)), Err(Exceeded::Bytes));
    }
}

#[test]
fn bytes_limit_the_reply_too() {
    let left = Allowance::new(u64::MAX, 800);
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
        let left = Allowance::new(tokens, bytes);
        let Ok(first) = left.before_last(&request(length), reserve) else {
            return Ok(());
        };

        let room = first.reply_tokens(&request(length)).unwrap();
        prop_assert!(room >= reserve);

        let mut spent = Spent::default();
        let reply = ChatResponse::new("b".repeat(room as usize * 4));
        spent.count_tokens(&request(length), &reply);

        let left = Allowance::new(tokens - spent.tokens(), bytes - spent.bytes);
        let last = request(length + room as usize * 4);
        prop_assert!(left.reply_tokens(&last).unwrap() >= reserve - 1);
    }
}
