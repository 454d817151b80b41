//! Texts from programs and stores are always shown safely.

#[path = "../../../text/tests/support/hostile.rs"]
mod hostile;

use cogwork_journal::Store;
use cogwork_studio::FlowError;
use hostile::{assert_error_is_safe, texts};

#[test]
fn nothing_unsafe_is_shown() {
    for text in texts() {
        assert_error_is_safe(&FlowError::Failed(text.clone()));
        assert_error_is_safe(&FlowError::Refused(text.clone()));

        let refused = Store::at(&format!("postgres://{text}")).map_err(FlowError::from);
        if let Err(error) = refused {
            assert_error_is_safe(&error);
        }
    }

    assert_error_is_safe(&FlowError::Unknown);
    assert_error_is_safe(&FlowError::MissingRun);
    assert_error_is_safe(&FlowError::Ended);
}
