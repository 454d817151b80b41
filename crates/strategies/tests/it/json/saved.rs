//! Traces of earlier versions.

use cogwork_strategies::{Call, Format};
use serde_json::json;

#[test]
fn a_saved_call_without_a_rung_was_asked_for_in_text() {
    let saved = json!({
        "model": {"stage": "s", "name": "", "tries": [{"reply": "x"}]},
    });

    let call: Call = serde_json::from_value(saved.clone()).unwrap();
    let Call::Model {
        format,
        refusals,
        repairs,
        ..
    } = &call
    else {
        panic!("{call:?}");
    };

    assert_eq!(
        (*format, refusals.len(), repairs.len()),
        (Format::Text, 0, 0)
    );
    assert_eq!(serde_json::to_value(&call).unwrap(), saved);
}
