//! Texts from servers and programs are always shown safely.

#[path = "../../../text/tests/support/hostile.rs"]
mod hostile;

use cogwork_restate::{ClientError, WorkflowError};
use hostile::{assert_error_is_safe, texts};

#[test]
fn nothing_unsafe_is_shown() {
    for text in texts() {
        let owned = || text.to_owned();
        assert_error_is_safe(&WorkflowError::Name(owned()));
        assert_error_is_safe(&ClientError::Address(owned()));
        assert_error_is_safe(&ClientError::Tls(owned()));
        assert_error_is_safe(&ClientError::Key {
            key: owned(),
            expected: "letters",
        });
        assert_error_is_safe(&ClientError::TooLarge {
            what: "the input",
            size: 2,
            max: 1,
        });
        assert_error_is_safe(&ClientError::Refused {
            status: 500,
            message: owned(),
        });

        let source = serde_json::from_str::<u8>(&format!("{text:?}")).unwrap_err();
        assert_error_is_safe(&ClientError::Json {
            what: "the state",
            source,
        });
    }
}
