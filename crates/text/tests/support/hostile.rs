//! Hostile texts, and assertions that nothing unsafe in them is shown.

#![allow(dead_code, reason = "not every test needs all of it")]

use std::error::Error;
use std::fmt::{Debug, Display};

use cogwork_text::is_unsafe;

/// Returns texts with which a model, a server or a file may try to deceive a reader or break a
/// format.
pub(crate) fn texts() -> Vec<String> {
    let every_unsafe: String = ('\0'..=char::MAX)
        .filter(|character| is_unsafe(*character))
        .collect();

    let texts = [
        "\u{1b}[2J\u{1b}]0;title\u{7} escape sequences",
        "\u{9b}31m escape sequences of one character",
        "line\nend\r\nand\rcarriage\u{b}return\u{c}forged: line\u{85}next\u{2028}line\u{2029}paragraph",
        "\tta\tb\t",
        "\u{202e}gnp.exe \u{202a}a\u{202b}b\u{202c}c\u{202d}d",
        "\u{2066}a\u{2067}b\u{2068}c\u{2069}",
        "\u{61c}a\u{200e}b\u{200f}c",
        "in\u{ad}vi\u{200b}si\u{2060}ble\u{2063} \u{180e}\u{206a}\u{feff}",
        "\u{fff9}annotated\u{fffa}text\u{fffb}",
        "tagged\u{e0001}\u{e0041}\u{e007f}",
        "\0nul\u{8}backspace\u{7f}delete",
        "`back` \"double\" 'single' \\N <b>&amp;</b> #35; %%{init: {}}%% $$x$$ [a](b) | _c_ *d* ~e~ {f}",
        "1. a list\n- \u{1b}that is none",
        "",
        " ",
        "👩\u{200d}🚀 क\u{94d}\u{200d}ष ❤\u{fe0f} emoji and scripts",
    ];

    let long = "\u{1b}long \u{202e}".repeat(1_000);
    texts
        .into_iter()
        .map(str::to_owned)
        .chain([every_unsafe, long])
        .collect()
}

/// Asserts that a text contains nothing unsafe except line feeds and tabs.
#[track_caller]
pub(crate) fn assert_safe(shown: &str) {
    let found = shown
        .chars()
        .find(|character| is_unsafe(*character) && !matches!(character, '\n' | '\t'));

    assert!(found.is_none(), "{found:?} is in {shown:?}");
}

/// Asserts that a text is one line and contains nothing unsafe.
#[track_caller]
pub(crate) fn assert_safe_line(shown: &str) {
    let found = shown.chars().find(|character| is_unsafe(*character));

    assert!(found.is_none(), "{found:?} is in {shown:?}");
}

/// Asserts that a value whose `Display` is one line shows nothing unsafe, and neither do its `{:#}` and `Debug`.
#[track_caller]
pub(crate) fn assert_line_is_safe<T: Display + Debug>(value: &T) {
    assert_safe_line(&value.to_string());
    assert_lines_are_safe(value);
}

/// Asserts that a value whose `Display` may have several lines shows nothing unsafe, and neither does its `Debug`.
#[track_caller]
pub(crate) fn assert_lines_are_safe<T: Display + Debug>(value: &T) {
    let forms = [
        format!("{value}"),
        format!("{value:#}"),
        format!("{value:?}"),
        format!("{value:#?}"),
    ];
    for shown in forms {
        assert_safe(&shown);
    }
}

/// Asserts that an error shows nothing unsafe, and that its `Debug` is its sentence.
#[track_caller]
pub(crate) fn assert_error_is_safe<T: Error>(error: &T) {
    assert_line_is_safe(error);

    let debug = format!("{error:?}");
    assert_eq!(debug, format!("{error:#}"), "use `debug_as_display!`");
}
