#[path = "../support/hostile.rs"]
mod hostile;

use std::fmt;

use cogwork_text::{
    ErrorText, Escaped, MermaidLabel, MultiLine, Name, NameList, OneLine, is_invisible,
};
use hostile::{assert_safe, assert_safe_line, texts};
use insta::assert_snapshot;
use proptest::prelude::*;

fn check(text: &str) {
    for line in [
        Name(text).to_string(),
        Escaped::new(text).to_string(),
        NameList::or([text, text]).to_string(),
    ] {
        assert!(!line.chars().any(is_invisible), "{line:?}");
    }

    assert_safe_line(&OneLine::new(text).to_string());
    assert_safe_line(&ErrorText(text).to_string());
    assert_safe_line(&MermaidLabel(text).to_string());
    assert_safe(&MultiLine::new(text).to_string());
    assert_safe(&format!("{:#}", ErrorText(text)));
}

#[test]
fn nothing_unsafe_comes_through() {
    texts().iter().for_each(|text| check(text));
}

proptest! {
    #[test]
    fn nothing_unsafe_comes_through_of_any_text(text in any::<String>()) {
        check(&text);
    }

    #[test]
    fn a_text_is_shown_the_same_whole_or_in_pieces(text in "[a\r\n\t \u{85}\u{1b}\"-]{0,12}", at in 0..12_usize) {
        let at = (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        let (one, other) = text.split_at(at);

        let whole = (OneLine::new(&text).to_string(), MultiLine::new(&text).to_string());
        let pieces = (
            OneLine::new(format_args!("{one}{other}")).to_string(),
            MultiLine::new(format_args!("{one}{other}")).to_string(),
        );
        prop_assert_eq!(whole, pieces);
    }

    #[test]
    fn no_text_ends_its_label(text in "[\"\\\\#%&;:<>`\n\r\u{0}a ]{0,12}") {
        let mermaid = MermaidLabel(&text).to_string();
        prop_assert!(!mermaid.contains(['"', '`', '%', '&']));
    }
}

#[test]
fn names_are_escaped_and_prose_is_replaced() {
    let text = "a\tb\r\n c\0\u{1b}[2J \u{202e}\u{200d}d";

    assert_snapshot!(Name(text), @r"a\tb\r\n c\u{0}\u{1b}[2J \u{202e}\u{200d}d");
    assert_snapshot!(OneLine::new(text), @"a b c��[2J �\u{200d}d");
    let lines = MultiLine::new(text).to_string();
    assert_eq!(lines, "a\tb\n c\u{fffd}\u{fffd}[2J \u{fffd}\u{200d}d");
}

#[test]
fn every_kind_of_line_break_is_one_line_feed() {
    let text = "a\nb\r\nc\rd\u{b}e\u{c}f\u{85}g\u{2028}h\u{2029}i\r\r\n\nj";
    let shown = MultiLine::new(text).to_string();
    assert_eq!(shown, "a\nb\nc\nd\ne\nf\ng\nh\ni\n\n\nj");
}

#[test]
fn a_list_of_names_is_a_part_of_a_sentence() {
    let shown = |names: &[&str]| NameList::or(names).to_string();

    assert_eq!(shown(&[]), "none");
    assert_eq!(shown(&["a"]), "`a`");
    assert_eq!(shown(&["a", "b"]), "`a` or `b`");
    assert_eq!(shown(&["a", "b", "c"]), "`a`, `b` or `c`");
    let all = NameList::and(["a", "b", "c"]).to_string();
    assert_eq!(all, "`a`, `b` and `c`");
}

#[test]
fn of_many_names_the_rest_is_counted() {
    let names: Vec<String> = (1..=33).map(|number| number.to_string()).collect();

    let whole = NameList::or(names.iter().take(30)).to_string();
    assert!(whole.ends_with("`29` or `30`"), "{whole}");
    let cut = NameList::or(&names).to_string();
    assert!(cut.ends_with("`29`, `30` and 3 more"), "{cut}");
}

#[test]
fn a_cut_is_marked_only_where_something_is_left_out() {
    assert_eq!(Name(&"é".repeat(80)).to_string(), "é".repeat(80));
    let escaped = r"\u{1b}".repeat(80) + "…";
    assert_eq!(Name(&"\u{1b}".repeat(81)).to_string(), escaped);

    let line = |text| OneLine::new(text).with_max_chars(3).to_string();
    assert_eq!([line("abc  "), line("abc d")], ["abc", "abc…"]);
    let lines = MultiLine::new("abc\n").with_max_chars(3).to_string();
    assert_eq!(lines, "abc…");
    assert_eq!(Escaped::new("").with_max_chars(0).to_string(), "");
}

/// Writes without end, and counts how often.
struct Endless(std::cell::Cell<usize>);

impl fmt::Display for Endless {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        loop {
            self.0.set(self.0.get() + 1);
            f.write_str("0123456789")?;
        }
    }
}

#[test]
fn a_text_costs_no_more_than_is_shown_of_it() {
    let endless = Endless(std::cell::Cell::new(0));

    let line = OneLine::new(&endless).with_max_chars(25).to_string();
    assert_eq!(line, "0123456789012345678901234…");
    assert_eq!(endless.0.replace(0), 3);
    let name = Escaped::new(&endless).with_max_chars(9).to_string();
    assert_eq!(name, "012345678…");
    assert_eq!(endless.0.replace(0), 1);
    let lines = MultiLine::new(&endless).with_max_chars(10).to_string();
    assert_eq!(lines, "0123456789…");
    assert_eq!(endless.0.get(), 2);
}

/// An error that can't be displayed is a fault of its own, and no cut.
#[test]
fn a_failure_to_write_is_handed_on() {
    struct Failing;

    impl fmt::Display for Failing {
        fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
            Err(fmt::Error)
        }
    }

    use std::fmt::Write;
    assert!(write!(String::new(), "{}", OneLine::new(Failing)).is_err());
}

#[test]
fn a_mermaid_label_means_itself() {
    let shown = |text: &str| MermaidLabel(text).to_string();

    assert_snapshot!(shown("- a"), @"#45; a");
    assert_snapshot!(shown("12) a\n+ b\n=== c\n    d"), @"12#41; a<br/>#43; b<br/>#61;== c<br/>#32;   d");
    assert_snapshot!(shown("step 1. of 2 - ok\n2.1 a"), @"step 1. of 2 - ok<br/>2.1 a");
    assert_snapshot!(shown("snake_case _emphasis_ __init__"), @"snake_case #95;emphasis#95; #95;#95;init#95;#95;");
    assert_snapshot!(shown("fa:fa-car https://a.b a: b me@a.b"), @"fa#58;fa-car https#58;//a.b a: b me#64;a.b");
    assert_snapshot!(shown("[a](b) | $$x$$ %%{init}%% ~~c~~"), @"#91;a](b) #124; #36;#36;x#36;#36; #37;#37;{init}#37;#37; #126;#126;c#126;#126;");
    assert_eq!(shown(""), " ");
}
