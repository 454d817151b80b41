//! Texts from programs and stores are always shown safely.

use cogwork_journal::AnyStore;
use cogwork_studio::{FlowError, ForkPart};
use cogwork_text::testing::{Shown, texts};

#[test]
fn nothing_unsafe_is_shown() {
    let shown = Shown::default();

    for text in texts() {
        shown.error(&FlowError::Failed(text.clone()));
        shown.error(&FlowError::refused(ForkPart::State, &text));

        let refused = AnyStore::at(&format!("postgres://{text}")).map_err(FlowError::from);
        if let Err(error) = refused {
            shown.error(&error);
        }
    }

    shown.error(&FlowError::Unknown);
    shown.error(&FlowError::CannotFork);
    shown.assert_complete(env!("CARGO_MANIFEST_DIR"), &[]);
}
