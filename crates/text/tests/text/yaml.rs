//! The check of YAML that takes long to parse.

#[path = "../support/growth.rs"]
mod growth;

use cogwork_text::expensive_yaml_line;
use growth::assert_grows_linearly;

#[test]
fn what_takes_long_is_found_on_its_line() {
    let texts = [
        ("a: b\nc: ".to_owned() + &"[".repeat(9), 2),
        ("[{".repeat(5), 1),
        ("[\n".repeat(9), 9),
        ("- ".repeat(5), 1),
        ("- - a\n".repeat(9), 9),
        ("? a\n".repeat(9), 9),
        ("%YAML 1.2\n".repeat(9), 9),
        (format!("a:\n{}b: c", " ".repeat(9)), 2),
    ];

    for (text, line) in texts {
        assert_eq!(expensive_yaml_line(&text, 8), Some(line), "{text:?}");
    }
}

#[test]
fn usual_texts_are_read() {
    let texts = [
        "a: [b, {c: d}]\n".repeat(99),
        format!("a: [{}]", "{b: c}, ".repeat(99)),
        "- a\n- b: c\n  d: |\n    e\n".repeat(99),
        "&a *b !c # d\n".repeat(99),
        String::new(),
    ];

    for text in texts {
        assert_eq!(expensive_yaml_line(&text, 8), None, "{text:?}");
    }
}

#[test]
fn checking_ten_times_the_text_takes_about_ten_times_as_long() {
    for unit in ["a: b\n", "- ", "[]", "[", "\n", "? ", " ", "%\n", "a - ?\n"] {
        assert_grows_linearly(unit, &unit.repeat(2_000), &unit.repeat(20_000), |text| {
            let _ = expensive_yaml_line(text, usize::MAX);
        });
    }
}
