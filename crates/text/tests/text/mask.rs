//! Secrets stay masked in the forms in which servers and libraries write them.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};
use cogwork_text::Mask;
use proptest::prelude::*;

const LABEL: &str = "[hidden]";

/// A form in which a text is written inside another one.
type Encoding = fn(&str) -> String;

const ENCODINGS: [Encoding; 5] = [
    str::to_owned,
    |text| {
        let quoted = serde_json::Value::from(text).to_string();
        quoted[1..quoted.len() - 1].replace('/', "\\/")
    },
    in_markdown,
    |text| in_url(text, "/?#@:&=+"),
    |text| in_url(text, "-._~").to_ascii_lowercase(),
];

/// Escapes all punctuation.
fn in_markdown(text: &str) -> String {
    let escaped = |character: char| match character {
        c if c.is_ascii_punctuation() => format!("\\{c}"),
        c => c.to_string(),
    };

    text.chars().map(escaped).collect()
}

/// Encodes all bytes but letters, digits and those of `kept`.
fn in_url(text: &str, kept: &str) -> String {
    let encoded = |byte: u8| match char::from(byte) {
        c if c.is_ascii_alphanumeric() || kept.contains(c) => c.to_string(),
        _ => format!("%{byte:02X}"),
    };

    text.bytes().map(encoded).collect()
}

fn mask(value: &str) -> Mask {
    Mask::new().with_value(value, LABEL)
}

/// A value that is not also a part of an escape.
fn any_value() -> impl Strategy<Value = String> {
    r#"[g-t]{2}[!-~ é漢\n\t]{4,40}[g-t]{2}"#
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(500) })]

    #[test]
    fn a_value_is_hidden_as_it_is_in_json_and_in_urls(
        value in any_value(),
        encodings in prop::collection::vec(prop::sample::select(ENCODINGS.to_vec()), 1..4),
    ) {
        // Also in forms inside of others, such as JSON inside of JSON.
        let encoded = encodings.iter().fold(value.clone(), |text, encoding| encoding(&text));
        let text = format!(">>> {encoded} <<<");
        prop_assert_eq!(mask(&value).hide(&text), format!(">>> {LABEL} <<<"), "{}", text);
    }

    #[test]
    fn the_case_of_letters_does_not_matter(value in "[a-z0-9_.-]{8,40}") {
        prop_assert_eq!(mask(&value).hide(&value.to_ascii_uppercase()), LABEL);
    }

    #[test]
    fn a_part_of_a_value_is_hidden(
        value in "[a-z0-9A-Z_.~-]{8,40}",
        (start, length) in (0..40_usize, 8..40_usize),
        encoding in prop::sample::select(ENCODINGS.to_vec()),
    ) {
        let characters: Vec<char> = value.chars().collect();
        let start = start.min(characters.len() - 8);
        let part: String = characters.into_iter().skip(start).take(length).collect();

        let text = format!(">>> {} <<<", encoding(&part));
        prop_assert_eq!(mask(&value).hide(&text), format!(">>> {LABEL} <<<"), "{}", text);
    }

    /// Such as the key of a user in `Authorization: Basic …`.
    #[test]
    fn a_value_is_hidden_in_base64(
        before in prop::collection::vec(any::<u8>(), 0..9),
        value in "[a-z0-9A-Z_.~-]{8,40}",
        after in prop::collection::vec(any::<u8>(), 0..9),
    ) {
        let bytes = [before.as_slice(), value.as_bytes(), after.as_slice()].concat();
        for encoded in [STANDARD.encode(&bytes), URL_SAFE.encode(&bytes)] {
            let shown = mask(&value).hide(&encoded);
            prop_assert!(shown.contains(LABEL), "{}", shown);

            // Two characters at each end may hold bits of its neighbours.
            let rest = shown.len() - LABEL.len();
            prop_assert!(rest <= (before.len() + after.len()) * 4 / 3 + 8, "{}", shown);
        }
    }

    #[test]
    fn any_text_without_the_value_stays_as_it_is(text in r#"[A-L0-9\\/%&#;"' …\n]{0,200}"#) {
        let mask = Mask::new().with_value("mnopqrstuvw", LABEL).with_value("zyxwvutsrqpo", LABEL);
        prop_assert_eq!(mask.hide(&text), text);
    }
}

#[test]
fn short_values_are_hidden_whole_and_empty_ones_hide_nothing() {
    let mask = Mask::new()
        .with_value("/ / a", LABEL)
        .with_value("1234", LABEL)
        .with_value("", "[nothing]")
        .with_value("", "[nothing]");
    assert_eq!(
        mask.hide("a / / a / b 123 1234"),
        "a [hidden] / b 123 [hidden]"
    );
    assert_eq!(Mask::new().hide("as it is"), "as it is");
}

#[test]
fn the_label_is_that_of_the_value_that_fits_best() {
    let mask = Mask::new()
        .with_value("https://example.org/sk-12345678", "${URL}")
        .with_value("sk-12345678", "${KEY}")
        .with_value("1234", "${PIN}");
    assert_eq!(
        mask.hide("at https://example.org/sk-12345678."),
        "at ${URL}."
    );
    assert_eq!(mask.hide("no key sk-12345678."), "no key ${KEY}.");
    assert_eq!(mask.hide("no pin 1234."), "no pin ${PIN}.");
    assert_eq!(mask.hide("at example.org?"), "at ${URL}?");
}

#[test]
fn a_mask_shows_its_labels_alone() {
    let mask = Mask::new().with_value("sk-12345678", "${KEY}");
    assert_eq!(format!("{mask:?}"), r#"{"${KEY}"}"#);
}
