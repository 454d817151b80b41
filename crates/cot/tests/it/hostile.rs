//! Replies made to hurt: each is a value or a located error, in bounded work.
//!
//! No time is asserted: work that grows with the square of these texts would take minutes.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "the helpers of tests may, as the tests do"
)]

use cogwork_cot::{Limits, Plan, Reply, ReplyProblem, ReplyProblemKind, Status, Step};
use proptest::prelude::*;

fn read(text: &str) -> Result<Reply, ReplyProblem> {
    Reply::read(text, 1024 * 1024)
}

/// A block of 128 KiB.
fn block(beginning: &str, piece: &str) -> String {
    format!(
        "```yaml\n{beginning}{}\n```",
        piece.repeat(128 * 1024 / piece.len())
    )
}

fn plan_of(piece: &str, times: usize) -> String {
    format!(
        "current_thinking: x\nplanning:\n{}\nnext_thought_needed: true\n",
        piece.repeat(times)
    )
}

/// Refused before the library sees them: it would take seconds or minutes, or abort.
#[test]
fn what_the_library_pays_dearly_for_is_refused_first() {
    let bomb: String = (1..20)
        .map(|n| format!("b{n}: &b{n} [{}]\n", format!("*b{}, ", n - 1).repeat(9)))
        .collect();
    let directives: String = (0..30_000).map(|n| format!("%TAG !a{n}! b\n")).collect();
    let deep: String = (0..900)
        .map(|n| format!("{}- a:\n", " ".repeat(n)))
        .collect();
    let brackets = "[".repeat(100_000);
    let in_plan = |flow: &str| plan_of(flow, 1);
    let cases = [
        (
            "alias bomb",
            format!("```yaml\nb0: &b0 x\n{bomb}current_thinking: x\n```"),
        ),
        (
            "aliases without anchors",
            block("current_thinking: ", "*a "),
        ),
        ("anchors", block("", "- &a x\n")),
        ("nested dashes", block("", "- ")),
        ("nested keys", block("", "a: ")),
        ("explicit keys", block("", "? ")),
        ("explicit keys in lines", block("", "?\n")),
        ("explicit keys in flow", block("[", "?")),
        ("values without keys", block("", ": ")),
        ("deep indentation", format!("```\n{deep}```")),
        ("brackets", in_plan(&brackets)),
        ("braces", in_plan(&"{".repeat(100_000))),
        ("both", in_plan(&"[{".repeat(50_000))),
        ("pairs", in_plan(&"{a: ".repeat(50_000))),
        ("brackets after a document marker", block("--- ", "[")),
        ("brackets in a document ended", block("...\n", "[")),
        (
            "directives",
            format!("```yaml\n{directives}---\ncurrent_thinking: x\n```"),
        ),
        ("tags", block("", "- !!str a\n")),
        ("tags in flow", block("[", "!,")),
        ("documents", block("", "---\n")),
        ("NUL", block("", "\0")),
        // Structure that looks like text to a reader who knows too little YAML.
        (
            "behind text on a line of its own",
            block("a:\n  b\nc: ", "["),
        ),
        (
            "behind text in a deeper collection",
            block("a:\n  b:\n    c:\n#\n      x\n  d: ", "["),
        ),
        ("behind a quote inside text", block("[a\n\",", "[")),
        (
            "behind a quote in an unfinished text",
            block("[a\n\"\n,", "["),
        ),
        ("behind an escaped quote", block("a: \"\\\\\"\nb: ", "[")),
        ("behind a quote that is none", block("a: it's\nb: ", "[")),
        ("behind a doubled quote", block("a: 'x'''\nb: ", "[")),
        ("behind a block scalar", block("a: |\n  x\nb: ", "[")),
        (
            "behind a block scalar that ends less indented",
            block("- - |\n    x\n- ", "["),
        ),
        ("behind a key in quotes", block("\"a\" : ", "[")),
        ("behind a value without a blank", block("{\"a\":", "[")),
        ("behind a comment", block("a: # |\n  ", "[")),
        ("behind a carriage return", block("- |\r- ", "[")),
        ("behind a next line", block("- |\u{85}- ", "[")),
        ("behind a line separator", block("- |\u{2028}- ", "[")),
        ("behind a paragraph separator", block("- |\u{2029}- ", "[")),
        ("behind a byte order mark", block("\u{feff}", "[")),
        (
            "behind a byte order mark on its line",
            block("- x\n\u{feff}- ", "["),
        ),
    ];

    let said: String = cases
        .iter()
        .map(|(name, text)| {
            let problem = read(text).expect_err(name);
            assert_eq!(
                problem.kind(),
                ReplyProblemKind::Refused,
                "{name}: {problem}"
            );

            format!("{name}: {problem}\n")
        })
        .collect();

    insta::assert_snapshot!("refusals", said);
}

/// What the library reads in proportion to its length, be it right or wrong.
#[test]
fn what_is_wide_and_long_is_a_value_or_a_located_error() {
    let piece = |beginning: &str, piece: &str| {
        format!(
            "```yaml\n{beginning}{}\n```",
            piece.repeat(40_000 / piece.len())
        )
    };

    let thinking = |text: &str| {
        format!(
            "current_thinking: {text}\nplanning: [{{description: a, status: Done}}]\nnext_thought_needed: true"
        )
    };

    let cases = [
        ("one line", piece("current_thinking:", "x")),
        ("one key", piece("", "x") + ": x"),
        ("lines", piece("", "a\n")),
        ("keys", piece("", "a:\n")),
        ("the same key", piece("", "planning: []\n")),
        ("a quote left open", piece("a: \"", "a \n")),
        ("an apostrophe left open", piece("a: '", "''\n")),
        ("quotes", piece("- ", "'a' ")),
        ("tabs", piece("a:", "\t")),
        ("lines of tabs", piece("# current_thinking\n", "\t\n")),
        ("comments", piece("", "#\n")),
        ("a wide sequence", piece("current_thinking: [", "a,") + "]"),
        ("a wide mapping", piece("{", "a: a,") + "}"),
        (
            "a sequence of pairs",
            piece("current_thinking: [", "a: a,") + "]",
        ),
        (
            "brackets 60 deep, again and again",
            piece("- ", &format!("{}{}\n- ", "[".repeat(60), "]".repeat(60))),
        ),
        (
            "dashes 60 deep, again and again",
            piece("", &format!("{}\n", "- ".repeat(60))),
        ),
        ("empty steps", plan_of("-\n", 20_000)),
        ("fences", "```\na: b\n```\n".repeat(4000)),
        (
            "fences that name a key",
            "```\ncurrent_thinking\n```\n".repeat(2000),
        ),
        ("fences that never close", piece("", "```yaml\n")),
        ("backticks", "`".repeat(40_000)),
        (
            "3,000 steps",
            plan_of("- {description: a, status: Done, result: 1}\n", 3000),
        ),
        (
            "a block scalar of 20,000 lines",
            thinking(&format!("|\n{}", "  a\n".repeat(20_000))),
        ),
        (
            "a folded scalar of 20,000 lines",
            thinking(&format!(">\n{}", "  a\n".repeat(20_000))),
        ),
        (
            "a plain scalar of 20,000 lines",
            thinking(&"  a\n".repeat(20_000)),
        ),
        (
            "20,000 blank lines",
            thinking(&format!("|\n  a\n{}  b", "\n".repeat(20_000))),
        ),
    ];

    let said: String = cases
        .iter()
        .map(|(name, text)| match read(text) {
            Ok(Reply {
                current_thinking,
                planning,
                ..
            }) => {
                format!(
                    "{name}: {} characters, {} steps\n",
                    current_thinking.len(),
                    planning.len()
                )
            }
            Err(problem) => format!("{name}: {problem}\n"),
        })
        .collect();

    insta::assert_snapshot!("wide_and_long", said);
}

#[test]
fn a_text_too_long_is_not_looked_at() {
    let limit = Limits::default().reply_bytes;
    for text in ["a: b\n".repeat(10_000_000), " ".repeat(50_000_000)] {
        let problem = Reply::read(&text, limit).unwrap_err();
        assert_eq!(problem.kind(), ReplyProblemKind::TooLong);
        assert_eq!(
            problem.to_string(),
            format!("the reply is 50000000 bytes long; at most {limit} are read")
        );
    }

    let exact = "current_thinking: x\nplanning: [{description: a, status: Done}]\nnext_thought_needed: true";
    assert!(Reply::read(exact, exact.len()).is_ok());
    assert!(Reply::read(exact, exact.len() - 1).is_err());
}

#[test]
fn a_plan_is_read_to_its_greatest_depth_and_refused_beyond() {
    let nested = |levels: usize| {
        let mut step = Step::pending("deepest");
        for _ in 1..levels {
            step = Step::pending("step").with_sub_steps([step]);
        }

        Reply {
            current_thinking: "x".into(),
            planning: vec![step].into(),
            next_thought_needed: true,
        }
    };

    let deepest = nested(cogwork_plan::MAX_DEPTH);
    assert_eq!(read(&deepest.to_string()), Ok(deepest));
    let problem = read(&nested(cogwork_plan::MAX_DEPTH + 1).to_string()).unwrap_err();
    assert_eq!(problem.kind(), ReplyProblemKind::Invalid);
    assert!(
        problem
            .message()
            .ends_with(": plan nests deeper than 32 levels"),
        "{problem}"
    );

    assert_eq!(problem.line(), Some(4 + 3 * 32));
    let flow = |levels: usize| {
        let open = "{description: a, status: Pending, sub_steps: [";
        let close = "]}";
        let inner = "{description: a, status: Done}";
        plan_of(
            &format!(
                " [{}{inner}{}]",
                open.repeat(levels - 1),
                close.repeat(levels - 1)
            ),
            1,
        )
    };

    assert_eq!(read(&flow(32)).map(|reply| reply.planning.len()), Ok(32));
    assert_eq!(
        read(&flow(33)).unwrap_err().kind(),
        ReplyProblemKind::Invalid
    );
    assert_eq!(
        read(&flow(40)).unwrap_err().kind(),
        ReplyProblemKind::Refused
    );
}

/// Any text, and often one that YAML, fences or the guard could stumble over.
fn odd_text() -> impl Strategy<Value = String> {
    let pieces = [
        "\n",
        "\n\n",
        " ",
        "  ",
        "\t",
        "\r",
        "\r\n",
        "\0",
        "\u{1b}[31m",
        "\u{85}",
        "\u{2028}",
        "\u{feff}",
        "\u{ffff}",
        "```",
        "```yaml\n",
        "---",
        "...",
        "- ",
        "? ",
        ": ",
        "#",
        " #",
        "&a",
        "*a",
        "!a",
        "%a",
        "|",
        ">",
        "'",
        "\"",
        "\\",
        "[",
        "]",
        "{",
        "}",
        ",",
        "`",
        "@",
        "~",
        "null",
        "true",
        "0x1",
        "65.50",
        "1e3",
        "current_thinking: ",
        "思考",
        "é",
        "word",
    ];

    let piece = prop_oneof![4 => prop::sample::select(pieces.to_vec()).prop_map(str::to_owned), 1 => any::<String>()];
    prop::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat())
}

fn odd_plan() -> impl Strategy<Value = Plan> {
    let status = prop::sample::select(vec![
        Status::Pending,
        Status::Done,
        Status::VerificationNeeded,
    ]);

    let leaf = (
        odd_text(),
        status,
        prop::option::of(odd_text()),
        prop::option::of(odd_text()),
    )
        .prop_map(|(description, status, result, mark)| Step {
            description,
            status,
            result,
            mark,
            sub_steps: Vec::new(),
        });

    let leaf = leaf.boxed();
    let step = leaf.clone().prop_recursive(4, 20, 3, move |inner| {
        (leaf.clone(), prop::collection::vec(inner, 0..3))
            .prop_map(|(step, sub_steps)| step.with_sub_steps(sub_steps))
    });
    prop::collection::vec(step, 1..4).prop_map(Plan::from)
}

/// Pieces of YAML, glued without sense. Aliases have no anchors, so that each one the library sees
/// is an error that says so.
fn glued_yaml() -> impl Strategy<Value = String> {
    let pieces = [
        "\n", "\n", "\n ", "\n  ", "\n  ", "\n    ", " ", "\t", "\r", "\u{85}", "\u{feff}", "- ",
        "- ", "? ", ": ", "a: ", "b: ", "k:\n  ", "*z", "*z", "*z ", "&y ", "!t ", "%T", "\n--- ",
        "\n...\n", "|\n", "|2\n", ">-\n", "\"", "\"", "'", "'", "''", "\\", "\"q\": ", "[", "]",
        "{", "}", ", ", ",", "a", "x y", "é", "#", " #c\n", "`", "<<: ", "~", "-a", ":a", "?a",
        "a:b", "a#b",
    ];
    prop::collection::vec(prop::sample::select(pieces.to_vec()), 1..16)
        .prop_map(|pieces| pieces.concat())
}

fn depth(value: &serde_yaml::Value) -> usize {
    use serde_yaml::Value::{Mapping, Sequence};

    match value {
        Sequence(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Mapping(items) => {
            1 + items
                .iter()
                .map(|(key, value)| depth(key).max(depth(value)))
                .max()
                .unwrap_or(0)
        }
        _ => 0,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(128) })]

    #[test]
    fn a_reply_written_is_read_as_it_was(
        current_thinking in odd_text().prop_filter("blank", |text| !text.trim().is_empty()),
        planning in odd_plan(),
        next_thought_needed: bool,
    ) {
        let reply = Reply { current_thinking, planning, next_thought_needed };
        prop_assert_eq!(read(&reply.to_string()), Ok(reply));
    }

    #[test]
    fn any_text_is_a_value_or_an_error_on_one_line_with_a_place_in_the_text(
        before in odd_text(), fenced: bool, text in glued_yaml(), after in odd_text(),
    ) {
        let fence = if fenced { "\n```\n" } else { "\n" };
        let text = format!("{before}{fence}current_thinking: {text}{fence}{after}");
        if let Err(problem) = read(&text) {
            prop_assert!(!problem.to_string().chars().any(char::is_control));
            if let (Some(line), Some(column)) = (problem.line(), problem.column()) {
                let found = text.split('\n').nth(line - 1);
                prop_assert!(found.is_some_and(|found| column <= found.chars().count() + 1), "{} in {:?}", problem, text);
            }
        }
    }

    /// The other opinion is the library's own: what the guard takes for text, it does too.
    #[test]
    fn what_the_guard_lets_through_has_no_alias_and_is_not_deep(text in glued_yaml()) {
        let text = format!("current_thinking: x\n{text}");
        let refused = read(&text).is_err_and(|problem| problem.kind() == ReplyProblemKind::Refused);
        match serde_yaml::from_str::<serde_yaml::Value>(&text) {
            Err(error) if error.to_string().contains("unknown anchor") => prop_assert!(refused, "{:?}", text),
            // A column of block style holds up to two levels, a list in a mapping; so does a bracket.
            Ok(value) if !refused => prop_assert!(depth(&value) <= 2 * (2 * cogwork_plan::MAX_DEPTH + 8)),
            _ => {}
        }
    }
}
