//! Errors never repeat parts of the refused text.

use cogwork_read::{Refused, YamlGuard};
use cogwork_text::testing::{Shown, texts};

const REASONS: [Refused; 12] = [
    Refused::Anchor,
    Refused::Alias,
    Refused::Tag,
    Refused::Directive,
    Refused::ExplicitKey,
    Refused::NoKey,
    Refused::Nesting(1),
    Refused::Items(1),
    Refused::Documents,
    Refused::Control,
    Refused::Comment,
    Refused::ByteOrderMark,
];

#[test]
fn nothing_unsafe_is_shown() {
    let shown = Shown::default();
    REASONS.iter().for_each(|reason| shown.line(reason));

    for text in texts() {
        for before in ["", "&", "*", "!", "%", "? ", "a: b # ", "---\n---\n", "[[["] {
            let refused = YamlGuard::new(2)
                .with_max_items(1)
                .check(&(before.to_owned() + &text));
            if let Err(refusal) = refused {
                shown.line(&refusal.reason);
            }
        }
    }

    shown.assert_complete(env!("CARGO_MANIFEST_DIR"), &[]);
}
