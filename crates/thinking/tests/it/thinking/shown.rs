//! Texts from models, hooks, memories and settings are always shown safely.

#[path = "../../../../text/tests/support/hostile.rs"]
mod hostile;

use cogwork_llm::{LlmError, LlmErrorKind, ScriptedClient};
use cogwork_thinking::memory::MemoryError;
use cogwork_thinking::{
    BestOf, Critique, PlanFirst, Reflection, Registry, Report, Thinking, ThinkingError,
    Verification,
};
use serde_json::json;

use crate::thinking::{after, ask, before};
use hostile::{assert_error_is_safe, assert_lines_are_safe, texts};

#[tokio::test(start_paused = true)]
async fn nothing_unsafe_is_shown() {
    for text in texts() {
        show_errors(&text);
        show_reports(&text).await;
    }
}

fn show_errors(text: &str) {
    let registry = Registry::with_built_in();
    for mode in ["critique", text] {
        let error = registry.build(mode, &json!({ text: text })).err();
        assert_error_is_safe(&error.unwrap());
    }

    assert_error_is_safe(&ThinkingError::unexpected(text, text));
    assert_error_is_safe(&MemoryError::new(text));

    let mut report = Report::default();
    report.memory_failures = vec![text.to_owned()];
    assert_lines_are_safe(&report);
}

/// Generations in which the model and the hooks say the text, or fail with it.
async fn show_reports(text: &str) {
    let failure = LlmError::new(LlmErrorKind::Other, text).with_body(text);
    let script = || ScriptedClient::new(vec![text; 20]);

    let words = text.to_owned();
    let reason = text.to_owned();
    let thinking = [
        Thinking::new(script()).with_mode(Reflection::new("Again.")),
        Thinking::new(script()).with_mode(Critique::new([text])),
        Thinking::new(script()).with_mode(Verification::default()),
        Thinking::new(script()).with_mode(BestOf::new(2)),
        Thinking::new(script()).with_mode(PlanFirst::default()),
        Thinking::new(script()).with_mode(before("odd", move |_| {
            Err(ThinkingError::new(words.clone()))
        })),
        Thinking::new(script()).with_mode(after("odd", move |_| {
            Err(ThinkingError::refused(reason.clone()))
        })),
        Thinking::new(ScriptedClient::new([failure])).with_mode(Reflection::new("Again.")),
    ];

    for thinking in thinking {
        match thinking.generate(ask(text)).await {
            Ok(generation) => assert_lines_are_safe(&generation.report),
            Err(error) => hostile::assert_safe_line(&error.to_string()),
        }
    }
}
