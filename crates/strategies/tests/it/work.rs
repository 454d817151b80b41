//! The time that reading replies takes: it grows with the length of the text, whatever it says. That of
//! tables is in `tables.rs`.

use cogwork_llm::Messages;
use cogwork_strategies::{Ask, Format, Parameter, ParameterType};

use crate::support::assert_grows_linearly;

fn text() -> ParameterType {
    ParameterType::Text {
        choices: Vec::new(),
    }
}

fn list_of(items: ParameterType) -> ParameterType {
    ParameterType::List {
        items: Box::new(items),
        min_items: 0,
    }
}

fn map_of(values: ParameterType) -> ParameterType {
    ParameterType::Map {
        values: Box::new(values),
    }
}

/// A question for each type of field, and one for all of them.
fn asks() -> Vec<Ask> {
    let number = ParameterType::Number {
        min: None,
        max: None,
    };
    let kinds = [
        ("a", text()),
        (
            "a",
            ParameterType::Text {
                choices: vec!["one".to_owned(), "two".to_owned()],
            },
        ),
        ("a", number.clone()),
        ("a", ParameterType::Boolean),
        ("a", ParameterType::Any),
        ("a", list_of(text())),
        ("a", list_of(number.clone())),
        ("a", map_of(ParameterType::Any)),
        ("a", map_of(list_of(number))),
    ];

    let ask = || Ask::new(Messages::new(), "Go on.");
    let alone = kinds
        .iter()
        .map(|(name, kind)| ask().with_field(*name, Parameter::new(kind.clone(), "d")));
    let together = kinds
        .iter()
        .enumerate()
        .fold(ask(), |ask, (place, (name, kind))| {
            ask.with_field(format!("{name}{place}"), Parameter::new(kind.clone(), "d"))
        });

    alone.chain([together, ask()]).collect()
}

/// Replies of about `n` pieces.
fn slow_replies(n: usize) -> Vec<(&'static str, String)> {
    vec![
        (
            "a list of numbers under a long name",
            format!("a: {{\"{}\": [{}0]}}", "k".repeat(n), "0,".repeat(n)),
        ),
        (
            "a list of other values under a long name",
            format!("a: {{\"{}\": [{}0]}}", "k".repeat(n), "{},".repeat(n)),
        ),
        ("a map of values of another type", {
            let pairs: Vec<_> = (0..n).map(|n| format!("\"k{n}\": 1")).collect();
            format!("a: {{{}}}", pairs.join(","))
        }),
        ("a field again and again", "a: x\n".repeat(n)),
        ("lines of a field", format!("a:\n{}", "- x\n".repeat(n))),
        ("fences", format!("a:\n{}", "```\n".repeat(n))),
        ("brackets", format!("a: {}", "[".repeat(n))),
        (
            "braces around no object",
            format!("{}a: 1{}", "{".repeat(n), "}".repeat(n)),
        ),
        ("a long number", format!("a: {}", "1".repeat(n))),
        (
            "a number with many commas",
            format!("a: {}", "1,".repeat(n)),
        ),
        ("colons", format!("a: {}", "a:".repeat(n))),
        ("stars", format!("{}a: x", "*".repeat(n))),
        ("thinking", format!("<think>{}", "</think>".repeat(n))),
        (
            "evidence",
            format!("Plan: x\n{}", "#E1 = echo[#E1]\n".repeat(n)),
        ),
        (
            "evidence in one line",
            format!("Plan: x\n{}", "#E1 ** ".repeat(n)),
        ),
        ("words", "word ".repeat(n)),
        ("keys without values", format!("{{{}", "\"a\" ".repeat(n))),
        ("commas in an object", format!("{{\"a\"{}", ",".repeat(n))),
        (
            "objects in a list",
            format!("{{\"a\": [{}", "{'b' 1} ".repeat(n)),
        ),
        ("objects without a known key", "{\"b\": 1} ".repeat(n)),
        ("deep objects", "{\"a\":".repeat(n)),
        ("apostrophes", format!("{{'a': '{}", "' ' ".repeat(n))),
        ("comments", format!("{{\"a\": {}", "// b\n".repeat(n))),
        ("backslashes", format!("{{\"a\": \"{}\"}}", "\\d".repeat(n))),
        ("closing brackets", format!("{{\"a\": [{}", "]}".repeat(n))),
    ]
}

#[test]
fn reading_ten_times_the_reply_takes_about_ten_times_as_long() {
    let asks = asks();
    let shorter = slow_replies(200).into_iter();

    for ((what, short), (_, long)) in shorter.zip(slow_replies(2_000)) {
        for format in [Format::Schema, Format::Text] {
            assert_grows_linearly(what, &short, &long, |reply| {
                asks.iter().for_each(|ask| drop(ask.read_on(format, reply)));
            });
        }
    }
}
