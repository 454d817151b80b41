//! Texts from paths, models, servers and databases are always shown safely.

#[path = "../../../text/tests/support/hostile.rs"]
mod hostile;

use std::io;

use cogwork_llm::{LlmError, LlmErrorKind};
use cogwork_recall::{IndexReport, RecallError};
use hostile::{assert_error_is_safe, assert_lines_are_safe, texts};

#[test]
fn nothing_unsafe_is_shown() {
    for text in texts() {
        for error in errors(&text) {
            assert_error_is_safe(&error);
        }
    }

    assert_lines_are_safe(&IndexReport::default());
}

fn errors(text: &str) -> Vec<RecallError> {
    let owned = || text.to_owned();
    vec![
        RecallError::Embedding(LlmError::new(LlmErrorKind::Decode, text)),
        RecallError::OtherModel {
            place: owned(),
            problem: owned(),
        },
        RecallError::Foreign {
            place: owned(),
            problem: owned(),
        },
        RecallError::Damaged {
            place: owned(),
            problem: owned(),
        },
        RecallError::Full {
            place: owned(),
            passages: 1,
            more: 1,
            most: 1,
        },
        RecallError::Unusable {
            number: 1,
            bytes: 2,
        },
        RecallError::TooManyFiles {
            place: owned(),
            most: 1,
        },
        RecallError::File {
            place: owned(),
            source: io::Error::other(text).into(),
        },
        RecallError::Database {
            place: owned(),
            source: text.into(),
        },
    ]
}
