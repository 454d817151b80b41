//! Texts from models, hooks, memories and settings are always shown safely.

#[path = "../../../../text/tests/support/hostile.rs"]
mod hostile;

use std::io;
use std::time::Duration;

use cogwork_llm::{LlmClient, LlmError, LlmErrorKind, ScriptedClient};
use cogwork_thinking::{
    BestOf, Critique, Found, HookOutcome, MemoryError, ModeBuildError, OnFailure, Outcome,
    PlanFirst, Reflection, Registry, RegistryError, Report, Thinking, ThinkingError, Verification,
};
use serde_json::json;

use crate::thinking::{after, ask, before, kept};
use hostile::{assert_error_is_safe, assert_line_is_safe, assert_lines_are_safe, texts};

#[tokio::test(start_paused = true)]
async fn nothing_unsafe_is_shown() {
    for text in texts() {
        show_registries(&text);
        show_errors(&text);
        show_memories(&text);
        show_outcomes(&text);
        show_reports(&text).await;
    }
}

fn show_registries(text: &str) {
    let owned = || text.to_owned();
    assert_error_is_safe(&RegistryError::Duplicate(owned()));
    assert_error_is_safe(&RegistryError::Name(owned()));

    let mut registry = Registry::with_built_in();
    let made = |_: serde_json::Map<_, _>| Ok(PlanFirst::new());
    registry.register("odd", text, made).unwrap();
    assert_lines_are_safe(&registry);

    let settings = [
        json!({ text: text }),
        json!({ "rounds": text, "criteria": [text, 1] }),
        json!(text),
    ];

    for mode in ["reflection", "critique", "best_of", text] {
        for settings in &settings {
            let Err(error) = registry.build(mode, settings) else {
                continue;
            };

            show_build(error);
        }
    }

    show_build(ModeBuildError::Settings {
        mode: owned(),
        problems: Vec::new(),
    });

    show_build(ModeBuildError::Unknown {
        name: owned(),
        nearest: Some(owned()),
        known: vec![owned(), owned()],
    });
}

fn show_build(error: ModeBuildError) {
    assert_error_is_safe(&error);

    if let ModeBuildError::Settings { mut problems, .. } = error {
        for problem in &mut problems {
            assert_line_is_safe(problem);
            problem.expected = None;
            problem.nearest = Some(problem.message.clone());
            assert_line_is_safe(problem);
        }
    }
}

fn show_errors(text: &str) {
    let owned = || text.to_owned();

    let errors = [
        ThinkingError::Call(LlmError::new(LlmErrorKind::Other, text)),
        ThinkingError::Empty,
        ThinkingError::CutOff { bytes: 1 },
        ThinkingError::Withheld,
        ThinkingError::TooLong { bytes: 2, most: 1 },
        ThinkingError::Unexpected {
            found: owned(),
            expected: owned(),
        },
        ThinkingError::Timeout(Duration::from_secs(1)),
        ThinkingError::Panic(owned()),
        ThinkingError::Misplaced(owned()),
        ThinkingError::Other(owned()),
    ];

    errors.iter().for_each(|error| assert_error_is_safe(error));
}

fn show_memories(text: &str) {
    let path = || text.to_owned();

    let errors = [
        MemoryError::File {
            path: path(),
            source: io::Error::other(text),
        },
        MemoryError::InUse {
            path: path(),
            holder: Some(1),
        },
        MemoryError::Damaged {
            path: path(),
            line: 1,
            problem: text.to_owned(),
        },
        MemoryError::TooLong {
            what: text.to_owned(),
            bytes: 2,
            most: 1,
        },
        MemoryError::Other(text.to_owned()),
    ];

    errors.iter().for_each(|error| assert_error_is_safe(error));
    assert_line_is_safe(&Found::new(text, 0.5));
}

fn show_outcomes(text: &str) {
    let outcomes = [
        Outcome::Kept,
        Outcome::Replaced,
        Outcome::Appended,
        Outcome::TriedAgain,
        Outcome::Refused(text.to_owned()),
        Outcome::Failed(text.to_owned()),
    ];

    outcomes
        .iter()
        .for_each(|outcome| assert_line_is_safe(outcome));

    let mut report = Report::default();
    report.error = Some(text.to_owned());
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
        Thinking::new(script()).with_mode(Reflection::new("Again.").with_rounds(2)),
        Thinking::new(script()).with_mode(Critique::new([text])),
        Thinking::new(script()).with_mode(Verification::new()),
        Thinking::new(script()).with_mode(BestOf::new(2)),
        Thinking::new(script()).with_mode(PlanFirst::new()),
        Thinking::new(script()).with_mode(before("odd", move |_| {
            Err(ThinkingError::new(words.clone()))
        })),
        Thinking::new(script())
            .with_mode(after("odd", move |_| Ok(HookOutcome::Fail(reason.clone())))),
        Thinking::new(ScriptedClient::new([failure])).with_mode(Reflection::new("Again.")),
        Thinking::new(script()).with_mode(Verification::new().with_on_failure(OnFailure::Fail)),
    ];

    for thinking in thinking {
        let (thinking, reports) = kept(thinking);
        if let Err(error) = thinking.complete(ask(text)).await {
            hostile::assert_safe_line(&error.to_string());
        }

        reports
            .lock()
            .unwrap()
            .iter()
            .for_each(|report| assert_lines_are_safe(report));
    }
}
