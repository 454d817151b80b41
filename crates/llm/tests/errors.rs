//! How errors show themselves.

use std::time::Duration;

use cogwork_llm::{LlmError, LlmErrorKind};

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
    let error = LlmError::new(LlmErrorKind::Server, "out of order").with_status(500).with_body("oops");
    assert_eq!(format!("{error:?}"), "server: out of order (status 500)\noops");
    let boxed: Box<dyn std::error::Error> = error.into();
    assert_eq!(format!("{boxed:?}"), "server: out of order (status 500)\noops");
}
