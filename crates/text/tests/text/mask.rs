//! Secrets stay masked, however they are encoded.

use cogwork_text::Mask;
use proptest::prelude::*;

const LABEL: &str = "[hidden]";

/// A way in which a text is written inside another one.
type Encoding = fn(&str) -> String;

const ENCODINGS: [Encoding; 10] = [
    in_json,
    |text| in_json(&in_json(text)),
    |text| format!("{text:?}").trim_matches('"').to_owned(),
    |text| {
        text.chars()
            .flat_map(|c| c.escape_unicode().collect::<Vec<_>>())
            .collect()
    },
    |text| {
        text.encode_utf16()
            .map(|unit| format!("\\u{unit:04X}"))
            .collect()
    },
    |text| {
        text.chars()
            .map(|c| format!("\\U{:08x}", c as u32))
            .collect()
    },
    |text| text.bytes().map(|byte| format!("%{byte:02X}")).collect(),
    |text| {
        text.chars()
            .map(|c| {
                if c.is_alphanumeric() {
                    c.to_string()
                } else {
                    in_url(c)
                }
            })
            .collect()
    },
    |text| text.chars().map(|c| format!("&#{};", c as u32)).collect(),
    |text| {
        let text = text
            .replace('&', "&amp;")
            .replace('<', "&lt;")
            .replace('>', "&gt;");
        text.replace('"', "&quot;").replace('\'', "&#x27;")
    },
];

fn in_json(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    quoted[1..quoted.len() - 1].replace('/', "\\/")
}

fn in_url(character: char) -> String {
    character
        .to_string()
        .bytes()
        .map(|byte| format!("%{byte:02x}"))
        .collect()
}

/// A character of any kind that a key, a password or an address may have.
fn any_character() -> impl Strategy<Value = char> {
    prop_oneof![
        6 => prop::char::range('a', 'z'),
        2 => prop::char::range('A', 'Z'),
        2 => prop::char::range('0', '9'),
        3 => prop::sample::select(r##"%\/&#;{}<>"'`.,:?@=+-_~!$*()[]|^"##.chars().collect::<Vec<_>>()),
        1 => prop::sample::select("\n\t\r \u{7}\u{1b}\u{85}\u{a0}\u{202e}\u{200b}".chars().collect::<Vec<_>>()),
        2 => prop::sample::select("éßñÅЖ漢字😀\u{301}".chars().collect::<Vec<_>>()),
        1 => prop::sample::select(vec!['u', 'x', '2', '5', '4', '1', 'n', 'A', 'F']),
    ]
}

/// A value that begins and ends with a letter, so that its place in a text is known to the character.
fn any_value() -> impl Strategy<Value = String> {
    let middle = prop::collection::vec(any_character(), 2..40).prop_map(String::from_iter);
    ("[g-t]{2}", middle, "[g-t]{2}").prop_map(|(first, middle, last)| first + &middle + &last)
}

fn encodings() -> impl Strategy<Value = Vec<Encoding>> {
    prop::collection::vec(prop::sample::select(ENCODINGS.to_vec()), 0..4)
}

fn encoded(text: &str, encodings: &[Encoding]) -> String {
    encodings
        .iter()
        .fold(text.to_owned(), |text, encoding| encoding(&text))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(500) })]

    #[test]
    fn a_value_is_hidden_however_it_is_written(
        value in any_value(),
        case in 0..3_u8,
        encodings in encodings(),
        in_parts in any::<bool>(),
    ) {
        let mask = Mask::new();
        let mask = if in_parts { mask.with_parts_of(&value, LABEL) } else { mask.with_value(&value, LABEL) };
        // What looks like an escape in the value itself may be none in capitals.
        let has_escape = value.contains(['\\', '&']);
        let spelt = match case {
            _ if has_escape => value.clone(),
            0 => value.clone(),
            1 => value.to_ascii_lowercase(),
            _ => value.to_ascii_uppercase(),
        };
        let text = format!(">>> {} <<<", encoded(&spelt, &encodings));
        prop_assert_eq!(mask.hide(&text), format!(">>> {LABEL} <<<"), "{}", text);
    }

    #[test]
    fn a_part_of_a_value_is_hidden_however_it_is_written(
        value in "[a-z0-9A-Z_.~é-]{8,40}",
        (start, length) in (0..40_usize, 8..40_usize),
        encodings in encodings(),
    ) {
        let mask = Mask::new().with_parts_of(&value, LABEL);
        let characters: Vec<char> = value.chars().collect();
        let start = start.min(characters.len() - 8);
        let part: String = characters.into_iter().skip(start).take(length).collect();

        let text = format!(">>> {} <<<", encoded(&part, &encodings));
        prop_assert_eq!(mask.hide(&text), format!(">>> {LABEL} <<<"), "{}", text);
    }

    #[test]
    fn a_beginning_is_hidden_where_a_text_is_cut_off(
        value in "[a-z0-9]{8,40}",
        length in 4..8_usize,
        encodings in encodings(),
        ends in prop::sample::select(vec!["", "…", "… (and 3 more)"]),
    ) {
        for mask in [Mask::new().with_value(&value, LABEL), Mask::new().with_parts_of(&value, LABEL)] {
            let text = format!(">>> {}{ends}", encoded(&value[..length], &encodings));
            prop_assert_eq!(mask.hide(&text), format!(">>> {LABEL}{ends}"), "{}", text);
        }
    }

    /// Not even a text in which an escape ends with the beginning of the value.
    #[test]
    fn a_value_is_hidden_behind_any_text(
        value in "[a-z0-9é%]{4,20}",
        before in r#"[a-f0-9\\ux%&#;{}]{0,12}"#,
        in_parts in any::<bool>(),
    ) {
        let mask = Mask::new();
        let mask = if in_parts { mask.with_parts_of(&value, LABEL) } else { mask.with_value(&value, LABEL) };
        let shown = mask.hide(&format!("{before}{value}"));
        prop_assert!(!shown.contains(&value) || before.contains(&value), "{}", shown);
    }

    #[test]
    fn any_text_without_the_value_stays_as_it_is(text in r#"[A-L0-9\\/%&#;"' …\n]{0,200}"#) {
        let mask = Mask::new().with_value("mnopqrstuvw", LABEL).with_parts_of("zyxwvutsrqpo", LABEL);
        prop_assert_eq!(mask.hide(&text), text);
    }
}

#[test]
fn a_value_of_slashes_and_spaces_is_hidden_as_it_is_alone() {
    let mask = Mask::new()
        .with_value("/ / a", LABEL)
        .with_value("", "[nothing]");
    assert_eq!(mask.hide("a / / a / b/a"), "a [hidden] / b/a");
    assert_eq!(
        Mask::new().with_value("", LABEL).hide("as it is"),
        "as it is"
    );
}

#[test]
fn the_label_is_that_of_the_value_that_fits_best() {
    let mask = Mask::new()
        .with_parts_of("https://example.org/sk-12345678", "${URL}")
        .with_parts_of("sk-12345678", "${KEY}")
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
fn a_value_is_hidden_in_the_name_of_a_host() {
    let mask = Mask::new().with_parts_of("Gehéimnis", LABEL);
    for (text, shown) in [
        (
            "no host xn--gehimnis-d1a.example.org",
            "no host [hidden].example.org",
        ),
        ("no host XN--GEHIMNIS-D1A", "no host [hidden]"),
        // Of `mein-gehéimnis-ist`.
        (
            "no host xn--mein-gehimnis-ist-itb.example",
            "no host [hidden].example",
        ),
        (
            "no host xn--bcher-kva.example",
            "no host xn--bcher-kva.example",
        ),
        ("xn--", "xn--"),
    ] {
        assert_eq!(mask.hide(text), shown);
    }

    // As a server's name it is in small letters, composed.
    let mask = Mask::new().with_parts_of("ＧＥＨＥＩＭＮＩＳ", LABEL);
    assert_eq!(
        mask.hide("no host geheimnis.example.org"),
        "no host [hidden].example.org"
    );
}

#[test]
fn a_mask_shows_its_labels_alone() {
    let mask = Mask::new().with_value("sk-12345678", "${KEY}");
    assert_eq!(format!("{mask:?}"), r#"{"${KEY}"}"#);
}
