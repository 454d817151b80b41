//! The texts of errors.

#[path = "../../../text/tests/support/hostile.rs"]
mod hostile;

use std::time::Duration;

use cogwork_llm::{Adjustment, Effort, LlmError, LlmErrorKind};
use cogwork_text::is_unsafe;
use hostile::{assert_error_is_safe, assert_line_is_safe, texts};
use proptest::prelude::*;

#[test]
fn an_error_shows_its_parts_in_one_line_and_its_body_only_when_asked() {
    let error = LlmError::new(LlmErrorKind::RateLimit, "too many requests")
        .with_status(429)
        .with_retry_after(Duration::from_millis(1500))
        .with_body("{\"error\": \"slow down\"}")
        .with_attempts(3);

    assert_eq!(
        error.to_string(),
        "rate limit: too many requests (status 429, retry after 1.5s), after 3 attempts"
    );
    assert_eq!(
        format!("{error:#}"),
        "rate limit: too many requests (status 429, retry after 1.5s), after 3 attempts\n{\"error\": \"slow down\"}"
    );
}

#[test]
fn debug_is_the_sentence_that_main_prints() {
    let error = LlmError::new(LlmErrorKind::Server, "out of order")
        .with_status(500)
        .with_body("oops");
    assert_eq!(
        format!("{error:?}"),
        "server: out of order (status 500)\noops"
    );
    let boxed: Box<dyn std::error::Error> = error.into();
    assert_eq!(
        format!("{boxed:?}"),
        "server: out of order (status 500)\noops"
    );
}

#[test]
fn words_of_others_are_shown_harmless_and_kept_as_they_are() {
    let error =
        LlmError::new(LlmErrorKind::Other, "a\nb\u{1b}[2J").with_body("c\r\n\u{202e}d\u{7}");
    assert_eq!(error.to_string(), "other: a b\u{fffd}[2J");
    assert_eq!(
        format!("{error:#}"),
        "other: a b\u{fffd}[2J\nc\n\u{fffd}d\u{fffd}"
    );
    assert_eq!(error.message(), "a\nb\u{1b}[2J");
    assert_eq!(error.body(), Some("c\r\n\u{202e}d\u{7}"));
}

#[test]
fn nothing_unsafe_is_shown() {
    for text in texts() {
        let error = LlmError::new(LlmErrorKind::Other, text.as_str())
            .with_status(500)
            .with_request_id(text.as_str())
            .with_body(text.as_str())
            .with_text_so_far(text.as_str());
        assert_error_is_safe(&error);
        assert_error_is_safe(&text.parse::<Effort>().unwrap_err());
        assert_line_is_safe(&Adjustment::replaced(text.as_str(), text.as_str()));
    }
}

#[test]
fn a_long_message_is_cut_where_it_is_shown() {
    let error = |length| LlmError::new(LlmErrorKind::Other, "é".repeat(length)).with_status(500);
    assert_eq!(
        error(1_000).to_string(),
        format!("other: {} (status 500)", "é".repeat(1_000))
    );
    assert_eq!(
        error(1_001).to_string(),
        format!("other: {}… (status 500)", "é".repeat(1_000))
    );
    assert_eq!(error(1_001).message().chars().count(), 1_001);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_message_shows_as_one_line(characters in proptest::collection::vec(any::<char>(), 0..1_200)) {
        let shown = LlmError::new(LlmErrorKind::Other, String::from_iter(&characters)).to_string();
        prop_assert!(!shown.contains(is_unsafe), "{:?}", shown);
        prop_assert!(shown.chars().count() <= "other: ".len() + 1_001);
    }
}
