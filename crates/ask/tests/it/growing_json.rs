//! JSON values that grow while they arrive.

use crate::growing::growth::assert_grows_linearly;
use cogwork_ask::GrowingJson;
use proptest::prelude::*;
use serde_json::{Value, json};

fn in_pieces(text: &str, length: usize) -> GrowingJson {
    let characters: Vec<char> = text.chars().collect();
    let mut growing = GrowingJson::default();
    for piece in characters.chunks(length) {
        growing.push(&piece.iter().collect::<String>());
    }
    growing
}

#[test]
fn prose_fences_and_thinking_are_skipped() {
    for text in [
        "Here:\n```json\n{\"a\": 1}\n``` Done {b}",
        "<think>{\"a\": 2}</think>{\"a\": 1}",
    ] {
        let growing = in_pieces(text, 3);
        assert_eq!(*growing.value(), json!({"a": 1}), "{text}");
        assert!(growing.is_complete());
    }
}

fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "\\PC{0,12}".prop_map(Value::from),
        "[\\n\\t\"\\\\😀é]{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::hash_map("[a-z\"]{0,4}", inner, 0..4)
                .prop_map(|map| map.into_iter().collect::<serde_json::Map<_, _>>().into()),
        ]
    })
}

proptest! {
    #[test]
    fn any_value_arrives_whole_in_any_pieces(value in values(), length in 1..9_usize) {
        let value = json!({"it": value});
        let growing = in_pieces(&value.to_string(), length);

        prop_assert!(growing.is_complete());
        prop_assert_eq!(growing.value(), &value);
    }

    #[test]
    fn any_text_is_taken(text in ".{0,80}", length in 1..9_usize) {
        in_pieces(&text, length);
    }
}

#[test]
fn the_time_is_linear_in_the_length() {
    for unit in ["\"a\",", "{\"a\": [", "\\u12", "\\q"] {
        let text = |count: usize| format!("[\"{}", unit.repeat(count));
        assert_grows_linearly(unit, &text(1_000), &text(10_000), |text| {
            in_pieces(text, 4);
        });
    }
}
