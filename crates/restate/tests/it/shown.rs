//! Texts from servers and programs are always shown safely.

use cogwork_restate::{ClientError, WorkflowError};
use cogwork_text::testing::{Shown, texts};

/// Its text is that of the HTTP client.
const EXEMPT: [&str; 1] = ["ClientError::Unreachable"];

#[test]
fn nothing_unsafe_is_shown() {
    let shown = Shown::default();

    for text in texts() {
        let owned = || text.to_owned();
        shown.error(&WorkflowError::Name(owned()));
        shown.error(&ClientError::Address(owned()));
        shown.error(&ClientError::Tls(owned()));
        shown.error(&ClientError::Key {
            key: owned(),
            expected: "letters",
        });
        shown.error(&ClientError::TooLarge {
            what: "the input",
            size: 2,
            max: 1,
        });
        shown.error(&ClientError::Refused {
            status: 500,
            message: owned(),
        });

        let source = serde_json::from_str::<u8>(&format!("{text:?}")).unwrap_err();
        shown.error(&ClientError::Json {
            what: "the state",
            source,
        });
    }

    shown.assert_complete(env!("CARGO_MANIFEST_DIR"), &EXEMPT);
}
