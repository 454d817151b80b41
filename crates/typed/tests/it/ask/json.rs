//! JSON as models write it.

#![expect(
    clippy::unwrap_used,
    reason = "the helpers of tests may, as the tests do"
)]

use cogwork_typed::ask::{Cut, MendedJson, find_object};
use serde_json::Value;

fn mended(text: &str) -> MendedJson {
    MendedJson::read(text, 1).unwrap()
}

fn value(text: &str) -> Value {
    serde_json::from_str(mended(text).json()).unwrap()
}

#[test]
fn a_list_is_read_like_an_object() {
    assert_eq!(
        value("[1, 'two', {three: 3,}]").to_string(),
        r#"[1,"two",{"three":3}]"#
    );
    assert_eq!(value("[]").to_string(), "[]");
}

#[test]
fn a_line_is_known_for_every_place_in_the_json() {
    let mended = mended("{\n  'a': 1,\n\n  b: [\n    'two\nlines',\n    3]}");
    let line_of = |part: &str| mended.line_at(mended.json().find(part).unwrap());

    assert_eq!(line_of("{"), 1);
    assert_eq!(line_of("\"a\""), 2);
    assert_eq!(line_of("1"), 2);
    assert_eq!(line_of("\"b\""), 4);
    assert_eq!(line_of("["), 4);
    assert_eq!(line_of("\"two"), 5);
    assert_eq!(line_of("3"), 7);
}

#[test]
fn a_correction_that_guesses_is_in_doubt() {
    for text in [
        r#"{"a": , "b": 1}"#,
        r#"{"a": "He said "hi" to me"}"#,
        r#"["He said "hi" to me"]"#,
        r#"["a" and "b"]"#,
        r#"{"a": 1]}"#,
        r#"{"a": 1, "b"}"#,
    ] {
        assert!(
            mended(text).doubt().is_some(),
            "{text}: {}",
            mended(text).json()
        );
    }

    for text in [
        r#"{"a": "x" "b": 1}"#,
        "[\"a\"\n\"b\"]",
        r#"[{"a": 1} {"a": 2}]"#,
        r#"{"a": 'x',}"#,
        "{a: None} // so it is",
    ] {
        assert_eq!(
            mended(text).doubt(),
            None,
            "{text}: {}",
            mended(text).json()
        );
    }
}

#[test]
fn it_is_known_how_a_text_was_cut_off() {
    assert_eq!(mended(r#"{"a": 1}"#).cut(), None);
    assert_eq!(mended(r#"{"a": {"b": "x"}"#).cut(), Some(Cut::BetweenKeys));
    assert_eq!(mended(r#"{"a": ["x""#).cut(), Some(Cut::InsideValue));
    assert_eq!(
        mended(r#"{"a": ["x"], "b": [{"c": "d"}"#).cut(),
        Some(Cut::InsideValue)
    );
    assert_eq!(mended(r#"{"a": "x", "b": 1"#).cut(), Some(Cut::InsideValue));
    assert_eq!(
        mended(r#"{"a": "x", "b": "y"#).cut(),
        Some(Cut::InsideValue)
    );
    assert_eq!(mended(r#"{"a": "x", "b""#).cut(), Some(Cut::InsideValue));
}

#[test]
fn the_first_whole_object_with_a_known_key_is_found() {
    let text = "{never} mind.\n```json\n{\"sum\": 4,}\n```\n{\"sum\": 5}";
    let found = find_object(text, |key| key == "sum").unwrap();

    assert_eq!(found.object["sum"], 4);
    assert_eq!(found.repairs[0].to_string(), "line 3: left out a comma");
    assert!(!found.is_cut);
}

#[test]
fn comments_are_left_out_and_texts_with_their_signs_are_kept() {
    for text in [
        "{\"a\": 1, // one, not {two}\n \"b\": [true /* or \"false\" */, 2.5 // half\n]}",
        "{\"a\": 1 # one: it is\n, \"b\": [true, 2.5]}",
        "{/* first */ \"a\": 1, # one\n \"b\": [true, # yes\n 2.5]}",
    ] {
        assert_eq!(
            value(text).to_string(),
            r#"{"a":1,"b":[true,2.5]}"#,
            "{text}"
        );
        assert!(mended(text).doubt().is_none(), "{text}");
        assert!(
            mended(text).repairs()[0]
                .to_string()
                .ends_with("left out a comment")
        );
    }

    let kept = "{colour: #fff, rank: # 1, page: \"http://a.b/*c\", of: \"// 1 /* 2 */ # 3\"}";
    assert_eq!(
        value(kept).to_string(),
        r##"{"colour":"#fff","of":"// 1 /* 2 */ # 3","page":"http://a.b/*c","rank":"# 1"}"##
    );
    assert!(mended("{\"a\": 1, /* \"b\": 2}").cut().is_some());
}

/// Returns the parts that were corrected, as they are in the text.
fn corrected(text: &str) -> Vec<&str> {
    let mended = mended(text);
    let parts = mended.repairs().iter().map(|repair| {
        let line = text.split('\n').nth(repair.line - 1).unwrap();
        let columns = repair.columns.clone().unwrap();
        line.get(columns).unwrap()
    });

    parts.collect()
}

#[test]
fn the_place_of_a_correction_is_known() {
    let cases: [(&str, &[&str]); 12] = [
        (r#"{"a": 'x', b: True}"#, &["'x'", "b", "True"]),
        ("{\"a\": 1,,\n  \"b\": word two }", &[",", "word two"]),
        (r#"{"a": 1, // one"#, &["// one", " // one"]),
        ("{\"a\": 1, /* one */ \"b\": 2}", &["/* one */"]),
        (r#"{"a": 1 "b": 2}"#, &[""]),
        (r#"{"a": [1, 2, ], "b": 3,}"#, &[",", ","]),
        (r#"{"a": , "b":}"#, &["", ""]),
        (r#"{"a": 1, "b"}"#, &[r#""b""#]),
        (r#"{"a": [1}"#, &[""]),
        (r#"{"a":: 1}]"#, &[":"]),
        ("{\"ä\": “ö”}", &["“ö”"]),
        ("{\n\n 'ä':\n  'ö\nü'}", &["'ä'", "'ö", "'ö"]),
    ];

    for (text, expected) in cases {
        assert_eq!(corrected(text), expected, "{text}");
    }
}

#[test]
fn the_place_of_a_correction_counts_from_the_start_of_its_line() {
    let reply = "First.\nSecond: {'sum':\n 4,}";
    let found = find_object(reply, |key| key == "sum").unwrap();
    let columns: Vec<_> = found
        .repairs
        .iter()
        .map(|repair| (repair.line, repair.columns.clone()))
        .collect();
    assert_eq!(columns, [(2, Some(9..14)), (3, Some(2..3))]);
}
