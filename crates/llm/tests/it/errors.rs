//! The texts of errors.

#[path = "../../../text/tests/support/hostile.rs"]
mod hostile;

use std::time::Duration;

use cogwork_llm::backend::Adjustment;
use cogwork_llm::{LlmError, LlmErrorKind};
use hostile::{assert_error_is_safe, assert_line_is_safe, texts};

/// Also with `Debug`, in which `main` prints it. What is shown is harmless.
#[test]
fn an_error_shows_its_parts_in_one_line_and_its_body_only_when_asked() {
    let error = LlmError::new(LlmErrorKind::RateLimit, "too\nmany\u{1b}[2J requests")
        .with_status(429)
        .with_retry_after(Duration::from_millis(1500))
        .with_body("{\"error\":\r\n\u{202e}\u{7}}")
        .with_attempts(3);
    assert_eq!(error.message(), "too\nmany\u{1b}[2J requests");
    assert_eq!(error.body(), Some("{\"error\":\r\n\u{202e}\u{7}}"));

    let shown = format!("{error}\n\n{error:#}");
    assert_eq!(format!("{error:?}"), format!("{error:#}"));
    let boxed: Box<dyn std::error::Error> = error.into();
    assert_eq!(format!("{boxed}\n\n{boxed:?}"), shown);
    insta::assert_snapshot!(shown, @r#"
    rate limit: too many�[2J requests (status 429, retry after 1.5s), after 3 attempts

    rate limit: too many�[2J requests (status 429, retry after 1.5s), after 3 attempts
    {"error":
    ��}
    "#);
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
        assert_line_is_safe(&Adjustment::replaced(text.as_str(), text.as_str()));
    }
}

#[test]
fn a_long_message_is_cut_where_it_is_shown() {
    let error = |length| LlmError::new(LlmErrorKind::Other, "é".repeat(length)).with_status(500);
    let shown = |end: &str| format!("{}{end} (status 500)", "é".repeat(1_000));
    assert_eq!(error(1_000).to_string(), shown(""));
    assert_eq!(error(1_001).to_string(), shown("…"));
    assert_eq!(error(1_001).message().chars().count(), 1_001);
}
