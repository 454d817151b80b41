//! Texts made so that a repair would have much to do: each is a value or an error in bounded work.
//!
//! No time is asserted: work that grows with the square of these texts would take minutes.

use cogwork_cot::{Reading, ReplyProblemKind, ReplyReader};

/// A quarter of what a reply may be by default; long enough for a square to be felt.
const LENGTH: usize = 64 * 1024;

/// A piece again and again, up to that length.
fn many(beginning: &str, piece: &str, end: &str) -> String {
    let times = LENGTH.saturating_sub(beginning.len() + end.len()) / piece.len();
    format!("{beginning}{}{end}", piece.repeat(times))
}

#[test]
fn much_work_for_the_repairs_is_bounded() {
    let thinking = "current_thinking: ";
    let plan = "current_thinking: x: y\nplanning:\n";
    let needed = "\nnext_thought_needed: no\n";
    let json = "{\"current_thinking\": \"x\", \"planning\": [";
    let deep: String = (0..700)
        .map(|level| format!("{}- sub_steps:\n", " ".repeat(level)))
        .collect();
    let bullets: String = (0..700)
        .map(|level| format!("{}- a\n", " ".repeat(level)))
        .collect();
    let columns: String = (0..5000)
        .map(|row| format!("{}- description: a\n", " ".repeat(row * 7 % 40)))
        .collect();
    let cases = [
        ("quotes", many(thinking, "\"", needed)),
        ("apostrophes", many(thinking, "'", needed)),
        (
            "backslashes in a quote",
            many("current_thinking: \"", "\\", needed),
        ),
        (
            "an open quote over many lines",
            many(
                "current_thinking: \"x\nplanning:\n- description: \"",
                "a\n",
                needed,
            ),
        ),
        ("open quotes", many(plan, "- description: \"\n", needed)),
        ("lines of an open text", many(plan, "a\n", needed)),
        ("blank lines", many(plan, "\n", needed)),
        ("blanks", many(plan, " ", needed)),
        ("tabs", many(plan, "\t\n", needed)),
        ("no-break spaces", many(plan, "\u{a0}", needed)),
        (
            "brackets",
            many("current_thinking: x\nplanning: ", "[", needed),
        ),
        (
            "braces",
            many("current_thinking: x\nplanning: ", "{", needed),
        ),
        (
            "keys and braces",
            many("current_thinking: x\n", "planning: {\n", needed),
        ),
        (
            "steps that are braces",
            many(plan, "- {description: \n", needed),
        ),
        (
            "steps in braces",
            many(plan, "- {description: a, status: ok}\n", needed),
        ),
        ("JSON of brackets", many(json, "[", "")),
        ("JSON of braces", many(json, "{\"a\":", "")),
        ("JSON of quotes", many(json, "\"", "")),
        (
            "JSON of open quotes",
            many(json, "{\"description\": \"a\n},", ""),
        ),
        ("JSON of commas", many(json, ",", "")),
        (
            "JSON of blank lines in a quote",
            many("{\"current_thinking\": \"", "\n", ""),
        ),
        ("JSON of blanks after quotes", many(json, "\"\n", "")),
        ("JSON of comments", many(json, "/*", "")),
        ("JSON of line comments", many(json, "//\n", "")),
        (
            "JSON of colons",
            many("{\"current_thinking\": \"x\", ", ":", ""),
        ),
        (
            "JSON of one long key",
            many("{\"current_thinking\": 1, ", "a", ""),
        ),
        ("braces before keys", many("", "{\"current_thinking\"", "")),
        (
            "braces and blanks before keys",
            many("", "{   ", "current_thinking: x\n"),
        ),
        (
            "keys of the top level",
            many("", "current_thinking: x: y\n", needed),
        ),
        (
            "plans",
            many("current_thinking: x: y\n", "planning:\n", needed),
        ),
        ("endings", many(plan, "next_thought_needed: no\n", "")),
        ("keys of a step", many(plan, "description: a\n", needed)),
        (
            "one key of a step",
            many(
                "current_thinking: x: y\nplanning:\n- description: a\n",
                "  status: Done\n",
                needed,
            ),
        ),
        ("steps without a text", many(plan, "-\n", needed)),
        ("bare steps", many(plan, "- a\n", needed)),
        ("numbers", many(plan, "1.\n", needed)),
        ("dashes", many(plan, "- ", needed)),
        ("stars", many(thinking, "*", needed)),
        (
            "sub-steps within one another",
            format!("{plan}{deep}{needed}"),
        ),
        (
            "bullets within one another",
            format!("{plan}{bullets}{needed}"),
        ),
        ("steps at every column", format!("{plan}{columns}{needed}")),
        (
            "one step again and again",
            many(plan, "- description: a\n", needed),
        ),
        (
            "plans as texts",
            many(
                "current_thinking: x\nplanning: \"",
                "1. a\\n",
                "\"\nnext_thought_needed: no\n",
            ),
        ),
        ("tags", many(plan, "</plan>\n", needed)),
        ("comments", many(plan, "# a\n", needed)),
        ("colons", many(thinking, ": ", needed)),
        (
            "one long word",
            many(thinking, "a", ": b\nplanning: c: d\n"),
        ),
        ("fences", many("", "```\ncurrent_thinking: a: b\n```\n", "")),
        (
            "fences left open",
            many("", "```yaml\ncurrent_thinking: a: b\n", ""),
        ),
        ("documents", many("```\n", "---\ncurrent_thinking: a\n", "")),
        (
            "thinking",
            many("", "<think>", "</think>current_thinking: x: y\n"),
        ),
        (
            "ends of thinking",
            many("", "</think>", "current_thinking: x: y\n"),
        ),
        ("curly quotes", many("current_thinking: ", "“: ”", needed)),
        (
            "unknown keys",
            many("current_thinking: x\n", "a: b\n", needed),
        ),
    ];

    let mut said = String::new();
    for (name, text) in cases {
        match ReplyReader::default().read(&text) {
            Ok(read) => {
                let steps = read.reply.planning.len();
                let repairs = read.repairs.len();
                said += &format!("{name}: {steps} steps, {repairs} repairs\n");
            }
            Err(problem) => said += &format!("{name}: {problem}\n"),
        }
    }

    insta::assert_snapshot!(said);
}

/// The limits are settings, and hold for what repairs make of a text too.
#[test]
fn limits_are_settings() {
    let reply = |steps: usize, status: &str| {
        let steps =
            format!("- description: a\n  status: {status}\n  result: {}\n", "b").repeat(steps);
        format!("current_thinking: x\nplanning:\n{steps}next_thought_needed: no\n")
    };

    let reader = ReplyReader::default().with_max_steps(5);
    assert!(reader.read(&reply(5, "done")).is_ok());
    for (reading, status) in [(Reading::Repairing, "done"), (Reading::Strict, "Done")] {
        let problem = reader
            .with_reading(reading)
            .read(&reply(6, status))
            .expect_err("too many steps");
        assert_eq!(problem.kind(), ReplyProblemKind::Refused);
        assert_eq!(problem.line(), Some(18));
        assert_eq!(
            problem.message(),
            "the block has more steps than are read; expected a shorter plan"
        );
    }

    let text = reply(1, "done");
    assert!(
        ReplyReader::default()
            .with_max_bytes(text.len())
            .read(&text)
            .is_ok()
    );

    let problem = ReplyReader::default()
        .with_max_bytes(text.len() - 1)
        .read(&text)
        .expect_err("too long");
    assert_eq!(problem.kind(), ReplyProblemKind::TooLong);
}
