//! The guard in front of YAML parsers: what it refuses, and that nothing nests deeper than it allows.

#[path = "../support/growth.rs"]
mod growth;

use cogwork_text::yaml::{Refused, YamlGuard};
use growth::assert_grows_linearly;
use proptest::prelude::*;
use serde_yaml::Value;

const DEEPEST: usize = 4;

fn refused(guard: YamlGuard, text: &str) -> Option<(usize, Refused)> {
    guard
        .check(text)
        .err()
        .map(|refusal| (refusal.offset, refusal.reason))
}

#[test]
fn what_no_one_needs_is_refused_where_it_stands() {
    let texts = [
        ("a: &b c", 3, Refused::Anchor),
        ("a: *b", 3, Refused::Alias),
        ("a: !b c", 3, Refused::Tag),
        ("%YAML 1.2\n---\n", 0, Refused::Directive),
        ("? a\n: b", 0, Refused::ExplicitKey),
        (": a", 0, Refused::NoKey),
        ("a: b # c", 5, Refused::Comment),
        ("a: b\n  c # d", 9, Refused::Comment),
        ("a: [b # c\n]", 6, Refused::Comment),
        ("a\n---\nb", 2, Refused::Documents),
        ("a: \u{7}", 3, Refused::Control),
        ("\u{feff}a: b", 0, Refused::ByteOrderMark),
        ("[[[[[", 4, Refused::Nesting(DEEPEST)),
        (
            "a:\n b:\n  c:\n   d:\n    e: f",
            22,
            Refused::Nesting(DEEPEST),
        ),
        ("- a\n- b\n- c\n- d", 12, Refused::Items(3)),
    ];

    for (text, offset, reason) in texts {
        let guard = YamlGuard::new(DEEPEST).with_max_items(3);
        assert_eq!(refused(guard, text), Some((offset, reason)), "{text:?}");
    }
}

#[test]
fn what_looks_like_structure_in_a_text_is_a_text() {
    let texts = [
        "a: |\n  [[[[[[\n  &b *c !d # e\nb: c",
        "a: >-\n  [[[[[[\n",
        "a: \"[[[[[[\n  [[[[[ &b # c\"\nb: c",
        "a: '[[[[[[ it''s\n  &b # c'\nb: c",
        "a: b[[[[[[&c*d!e#f\n  [[[[[ g\nb: c",
        "# &a *b [[[[[[[\na: b",
        "a: b\n# [[[[[[[\nc: d",
    ];

    for text in texts {
        assert_eq!(refused(YamlGuard::new(DEEPEST), text), None, "{text:?}");
    }
}

#[test]
fn comments_after_text_are_allowed_where_someone_asks_for_it() {
    let guard = YamlGuard::new(DEEPEST).allow_trailing_comments();
    let texts = ["a: b # [[[[[[\nc: d # e", "a: [b, # [[[[[[\n  c # d\n  ]"];

    for text in texts {
        assert_eq!(refused(guard, text), None, "{text:?}");
    }

    // Behind a comment nothing goes on: what follows is structure again.
    assert_eq!(
        refused(guard, "a: b # c\n  [[[[["),
        Some((14, Refused::Nesting(DEEPEST)))
    );
    assert_eq!(
        refused(guard, "a: b\n  # c\n  [[[[["),
        Some((16, Refused::Nesting(DEEPEST)))
    );
}

#[test]
fn checking_ten_times_the_text_takes_about_ten_times_as_long() {
    let units = [
        "a: b\n", "- ", "[]", "[a, ", "{a: ", "\"", "'", "|\n", "a ", " ", "\n", "#", ": ",
        "a\n  ", "&a ",
    ];
    let guard = YamlGuard::new(64).allow_trailing_comments();

    for first in units {
        for second in units {
            let unit = [first, second].concat();
            assert_grows_linearly(&unit, &unit.repeat(500), &unit.repeat(5_000), |text| {
                let _ = guard.check(text);
            });
        }
    }
}

fn pieces() -> impl Strategy<Value = String> {
    let pieces = [
        "a", "b: ", "- ", "[", "]", "{", "}", ",", ": ", ":", "\"", "'", "|\n", ">\n", "\n", "\n ",
        "\n  ", "\n   ", " ", "\t", "#", " # ", "&a ", "*a ", "---\n", "...\n", "\\", "\u{85}",
        "\u{2028}", "\r", "?", "é", "''", "-", "|2\n", "&a", "*a",
    ];

    let piece = prop::sample::select(pieces.to_vec());
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

fn depth(value: &Value) -> usize {
    match value {
        Value::Sequence(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Value::Mapping(entries) => {
            1 + entries
                .iter()
                .flat_map(|(key, value)| [depth(key), depth(value)])
                .max()
                .unwrap_or(0)
        }
        _ => 0,
    }
}

fn cases() -> u32 {
    match std::env::var_os("COGWORK_LONG_TESTS") {
        Some(_) => 4_000,
        None => 400,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]

    #[test]
    fn nothing_that_is_let_through_nests_deeper(text in pieces()) {
        let strict = YamlGuard::new(DEEPEST);
        let lenient = strict.allow_trailing_comments();

        for guard in [strict, lenient] {
            let Ok(()) = guard.check(&text) else { continue };
            let Ok(value) = serde_yaml::from_str::<Value>(&text) else { continue };
            prop_assert!(depth(&value) <= DEEPEST, "{text:?} nests {} levels deep", depth(&value));
        }
    }
}
