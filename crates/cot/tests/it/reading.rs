//! Reading the raw text of replies, and the errors for unreadable ones.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "the helpers of tests may, as the tests do"
)]

use cogwork_cot::{Plan, Reply, ReplyProblem, ReplyProblemKind, ReplyReader, Step};

const MAX: usize = 64 * 1024;

const BODY: &str = "\
current_thinking: Right so far.
planning:
  - description: Add
    status: Done
    result: 65.50
  - description: Conclude
    status: Pending
next_thought_needed: true
";

fn read(text: &str) -> Result<Reply, ReplyProblem> {
    Reply::read(text, MAX)
}

fn reply(thinking: &str) -> Reply {
    Reply {
        current_thinking: thinking.to_owned(),
        planning: Plan::from(vec![Step::done("Add", "65.50"), Step::pending("Conclude")]),
        next_thought_needed: true,
    }
}

fn problem(text: &str) -> ReplyProblem {
    read(text).expect_err(text)
}

fn fenced(body: &str) -> String {
    format!("```yaml\n{body}```")
}

/// Every line moved to the right.
fn indented(text: &str, by: &str) -> String {
    text.lines().map(|line| format!("{by}{line}\n")).collect()
}

#[test]
fn a_reply_is_found_in_a_fence_or_without_one() {
    let texts = [
        BODY.to_owned(),
        fenced(BODY),
        format!("```yml\n{BODY}```\n"),
        format!("```YAML\n{BODY}```"),
        format!("```\n{BODY}```"),
        format!("``` yaml \n{BODY}``` "),
        format!("````yaml\n{BODY}````"),
        format!("```json\n{BODY}```"),
        format!("~~~yaml\n{BODY}~~~"),
        format!("Here it is:```yaml\n{BODY}```"),
        format!("```yaml {BODY}```"),
        format!("```yaml\n{}```", BODY.trim_end()),
        format!("Here is my reply:\n{BODY}\nIs it right?"),
        format!("<think>\n{}\n</think>\n{BODY}", fenced("current_thinking: no\n")),
        format!("no\n</think>\n\n{}", fenced(BODY)),
        format!("Here it is: my thought.\n\n```yaml\n{BODY}```\nI hope it helps: tell me."),
        indented(&fenced(BODY), "   "),
        indented(&fenced(BODY), "\t").replace('\t', "    "),
        format!("```yaml\n---\n{BODY}...\n```"),
        format!("\n\n{BODY}\n\n"),
        format!("---\n{BODY}"),
        format!("```yaml\n# My thought.\n{BODY}"),
        BODY.replace('\n', "\r\n"),
        fenced(BODY).replace('\n', "\r\n"),
        format!("\u{feff}{BODY}"),
        format!("\u{feff}{}", fenced(BODY)),
        format!("```yaml\n\u{feff}{BODY}```"),
        r#"{"current_thinking": "Right so far.", "planning": [{"description": "Add", "status": "Done", "result": "65.50"},
            {"description": "Conclude", "status": "Pending", "result": null, "sub_steps": []}], "next_thought_needed": true}"#
            .to_owned(),
    ];
    for text in texts {
        assert_eq!(read(&text), Ok(reply("Right so far.")), "{text}");
    }
}

#[test]
fn fences_with_other_labels_are_not_read() {
    let text = format!(
        "```python\nprint('current_thinking: no')\n```\n{}",
        fenced(BODY)
    );
    assert_eq!(read(&text), Ok(reply("Right so far.")));
}

#[test]
fn a_fence_inside_the_thinking_is_text() {
    let thinking = "I run it:\n```\nprint(1)\n```\n\n```yaml\na: b\n```\nIt prints 1.\n";
    let body = BODY.replace(
        "Right so far.\n",
        &format!("|\n{}", indented(thinking, "  ")),
    );
    for text in [fenced(&body), body] {
        assert_eq!(read(&text), Ok(reply(thinking)), "{text}");
    }
}

#[test]
fn of_several_fences_the_last_one_that_names_a_key_counts() {
    let first = fenced(BODY);
    let second = fenced(&BODY.replace("Right so far.", "No, wait."));
    let other = fenced("speed: 60 km/h\n");

    for text in [format!("{first}\n{second}"), format!("{second}\n{other}")] {
        assert_eq!(read(&text), Ok(reply("No, wait.")), "{text}");
    }
}

#[test]
fn a_reply_is_not_used_after_a_second_block_has_taken_it_back() {
    let retracted = fenced(BODY);
    let broken = fenced("current_thinking: No, wait.\nplanning: none\nnext_thought_needed: true\n");
    assert_eq!(
        problem(&format!("{retracted}\n{broken}")).to_string(),
        r#"line 2: the reply isn't as it was asked for (used this value, since a later one can't be used: line 13, `/planning`: found the text "none"; expected a list of objects with description, status, result, mark, sub_steps)"#
    );
    let begun = "```yaml\ncurrent_thinking: No, wait.";

    assert_eq!(
        problem(&format!("{retracted}\n{begun}")).kind(),
        ReplyProblemKind::Invalid
    );
}

#[test]
fn of_several_broken_fences_the_complaint_is_about_the_last_one_meant_as_a_reply() {
    let earlier = fenced("current_thinking: x\nplan: []\n");
    let meant = fenced("current_thinking: x\nplanning: none\n");
    let other = fenced("speed: 60 km/h\n");
    let text = format!("{earlier}\n{meant}\n{other}");

    assert_eq!(
        problem(&text).to_string(),
        r#"line 7: `/planning`: found the text "none"; expected a list of objects with description, status, result, mark, sub_steps"#
    );
}

#[test]
fn texts_stay_as_they_are_written() {
    let plan = "\
current_thinking: '0123'
planning:
  - {description: 2024-01-31, status: Done, result: 65.50}
  - {description: 0x10, status: Verification Needed, mark: 1_000}
  - {description: \"yes\", status: Done, result: true, mark: ~}
  - {description: 1e3, status: Done, result: \"\"}
next_thought_needed: false
";

    let reply = read(plan).unwrap();
    let texts: Vec<_> = reply
        .planning
        .steps()
        .iter()
        .map(|step| {
            (
                step.description.as_str(),
                step.result.as_deref(),
                step.mark.as_deref(),
            )
        })
        .collect();

    assert_eq!(
        texts,
        [
            ("2024-01-31", Some("65.50"), None),
            ("0x10", None, Some("1_000")),
            ("yes", Some("true"), None),
            ("1e3", Some(""), None),
        ]
    );

    assert_eq!(reply.current_thinking, "0123");
}

/// What looks dangerous and is not: the guard must let it through, and the library read it.
#[test]
fn harmless_signs_are_read() {
    let thinkings = [
        (
            "|\n  [[[[ {{{{ &x *bold* - - - !tag %d\n  --- no\n",
            "[[[[ {{{{ &x *bold* - - - !tag %d\n--- no\n",
        ),
        (">-\n  *bold*\n  &x\n", "*bold* &x"),
        ("|2-\n    *deeper*\n  *less*\n", "  *deeper*\n*less*"),
        ("|\n\n  a\n \n\n  *b*\n", "\na\n\n\n*b*\n"),
        ("\"*a*\n  &b [[[\n  \\\"*c*\"\n", "*a* &b [[[ \"*c*"),
        ("'*a*\n\n  it''s &b'\n", "*a*\nit's &b"),
        (
            "we go on\n  *bold* and\n  &x and\n  - [[[\n",
            "we go on *bold* and &x and - [[[",
        ),
        (
            "\n  on a line of its own\n  *bold*\n",
            "on a line of its own *bold*",
        ),
        (
            "a && b, 5 * 3, R&D, 2*x, f(x)[0], {y}\n",
            "a && b, 5 * 3, R&D, 2*x, f(x)[0], {y}",
        ),
        (
            "see https://example.org/?a=1&b=*#top\n# a [[[ comment *x\n",
            "see https://example.org/?a=1&b=*#top",
        ),
        ("'Thought #1' # a comment behind quotes\n", "Thought #1"),
        ("| # of the header\n  Thought #1\n", "Thought #1\n"),
        (">-\n  Thought #1\n  and #2\n", "Thought #1 and #2"),
        ("-5 is less than 5! :) ?ok\n", "-5 is less than 5! :) ?ok"),
        ("50% of it's \"all\"\n", "50% of it's \"all\""),
        ("思考：*好*、&、[1]\n", "思考：*好*、&、[1]"),
    ];
    for (yaml, expected) in thinkings {
        let body = BODY.replace("Right so far.\n", yaml);
        assert_eq!(read(&fenced(&body)), Ok(reply(expected)), "{body}");
    }
}

#[test]
fn plans_of_any_style_are_read() {
    let expected = Plan::from(vec![
        Step::pending("Multiply")
            .with_sub_steps([Step::done("Tens", "20 * 7 = 140"), Step::pending("Ones")]),
        Step::verification_needed("Add", "off by *one*?"),
    ]);

    let plans = [
        "
  - description: Multiply
    status: Pending
    sub_steps:
      - description: Tens
        status: Done
        result: 20 * 7 = 140
      - description: Ones
        status: Pending
  - description: Add
    status: Verification Needed
    mark: off by *one*?
",
        "
- description: 'Multiply'   # the hard part [[[
  sub_steps: # two of them
  - status: Done
    description:
      Tens
    result: |-
      20 * 7 = 140

  # what is left: *ones*
  - { description: Ones, status: Pending }
  status: Pending
-
  description: 'Add'
  status: \"Verification Needed\"
  mark: \"off by
    *one*?\"
",
        " [{description: Multiply, status: Pending, sub_steps: [{description: Tens, status: Done,
   result: 20 * 7 = 140}, {\"description\":\"Ones\",\"status\":\"Pending\"}]
   },
   {description: Add, status: Verification Needed, mark: off by *one*?}]
",
    ];

    for plan in plans {
        let body = format!("current_thinking: x\nplanning:{plan}next_thought_needed: true\n");
        assert_eq!(
            read(&body).map(|reply| reply.planning),
            Ok(expected.clone()),
            "{body}"
        );
    }
}

#[test]
fn a_place_is_the_line_in_the_raw_text() {
    // The `x` that isn't a truth value.
    let body = "current_thinking: y\nplanning: [{description: 思考, status: Done}]\nnext_thought_needed: x\n";
    for (text, line) in [
        (format!("思考：\n\n```yaml\n{body}```"), 6),
        (body.replace('\n', "\r\n"), 3),
        (format!("\u{feff}{body}"), 3),
        ("```yaml\ncurrent_thinking: \"x\n".to_owned(), 2),
        (fenced(&BODY.replace("Right so far.", "''")), 2),
        (body.replace("[{description: 思考, status: Done}]", "[]"), 2),
    ] {
        assert_eq!(problem(&text).line(), Some(line), "{text}");
    }
}

#[test]
fn limits_are_settings() {
    let reply = |steps: usize| {
        let steps = "- description: a\n  status: done\n  result: b\n".repeat(steps);
        format!("current_thinking: x\nplanning:\n{steps}next_thought_needed: no\n")
    };

    let reader = ReplyReader::default().with_max_steps(5);
    assert!(reader.read(&reply(5)).is_ok());
    let problem = reader.read(&reply(6)).unwrap_err();
    assert_eq!(
        problem.to_string(),
        "the block has more steps than are read; expected a shorter plan"
    );

    let text = reply(1);
    let reader = ReplyReader::default();
    assert!(reader.with_max_bytes(text.len()).read(&text).is_ok());
    let problem = reader.with_max_bytes(text.len() - 1).read(&text);
    assert_eq!(problem.unwrap_err().kind(), ReplyProblemKind::TooLong);
}

/// Escapes in pairs, which YAML does not know, and numbers, whose spelling JSON's reader does not keep.
#[test]
fn json_is_read_to_the_last_character() {
    let reply = read(
        r#"{"current_thinking":"\ud83d\ude00\u00e9\/","planning":[{"description":"a","status":"Done","result":"\u2028"}],"next_thought_needed":true}"#,
    );
    let reply = reply.unwrap();
    assert_eq!(reply.current_thinking, "😀é/");
    assert_eq!(
        reply.planning.steps()[0].result.as_deref(),
        Some("\u{2028}")
    );
}

/// Every complaint, whole, with its excerpt.
#[test]
fn every_complaint_says_what_is_wrong_where_and_what_is_accepted() {
    let step = |rest: &str| {
        fenced(&format!(
            "current_thinking: x\nplanning:\n  - description: a\n    status: Done\n{rest}next_thought_needed: true\n"
        ))
    };

    let without = |key: &str| {
        let kept: String = fenced(
            "current_thinking: x\nplanning: [{description: a, status: Done}]\nnext_thought_needed: true\n",
        )
        .split_inclusive('\n')
        .filter(|line| !line.starts_with(key))
        .collect();
        kept
    };

    let with = |from: &str, to: &str| fenced(&BODY.replace(from, to));
    let long = "x".repeat(500);
    let cases = [
        ("nothing", String::new()),
        ("blanks", " \n\t\n".to_owned()),
        ("too long", "x".repeat(MAX + 1)),
        (
            "prose",
            "I am sorry, but I cannot help: it is too hard.\nThe planning: none.".to_owned(),
        ),
        ("an empty fence", "```yaml\n```".to_owned()),
        ("a fence of prose", "```\nThe answer is 4.\n```".to_owned()),
        (
            "prose that names a key",
            "My current_thinking is that it is 4.".to_owned(),
        ),
        (
            "a comment only",
            "```yaml\n# current_thinking\n```".to_owned(),
        ),
        ("a list", fenced("- current_thinking: x\n")),
        ("no current_thinking", without("current_thinking")),
        ("no planning", without("planning")),
        ("no next_thought_needed", without("next_thought_needed")),
        (
            "an unknown part",
            with(
                "next_thought_needed: true",
                "confidence: 0.9\nnext_thought_needed: true",
            ),
        ),
        (
            "a part twice",
            with("planning:", "current_thinking: y\nplanning:"),
        ),
        ("no thinking", with("Right so far.", "''")),
        ("blank thinking", with("Right so far.", "|\n\n  \n")),
        ("thinking as a list", with("Right so far.", "[a, b]")),
        (
            "needed in quotes",
            with("needed: true", "needed: \"false\""),
        ),
        ("needed no", with("needed: true", "needed: no")),
        ("needed nothing", with("needed: true", "needed:")),
        (
            "a plan as text",
            fenced(
                "current_thinking: x\nplanning: add, then conclude\nnext_thought_needed: true\n",
            ),
        ),
        (
            "a plan as a mapping",
            fenced("current_thinking: x\nplanning: {step: add}\nnext_thought_needed: true\n"),
        ),
        (
            "an empty plan",
            fenced("current_thinking: x\nplanning: []\nnext_thought_needed: true\n"),
        ),
        (
            "no plan",
            fenced("current_thinking: x\nplanning:\nnext_thought_needed: true\n"),
        ),
        (
            "a step as text",
            fenced("current_thinking: x\nplanning:\n  - add\nnext_thought_needed: true\n"),
        ),
        ("an unknown status", with("Pending", "In Progress")),
        ("a status of another spelling", with("Pending", "pending")),
        ("a status as a list", with("Pending", "[Done]")),
        (
            "no description",
            with("description: Add\n    status", "status"),
        ),
        ("no status", with("    status: Pending\n", "")),
        ("an unknown key of a step", step("    priority: 1\n")),
        ("a key of a step twice", step("    status: Pending\n")),
        ("a result as a mapping", step("    result: {a: b}\n")),
        (
            "a status deep down",
            step(
                "    sub_steps:\n      - description: b\n        status: Done\n      - description: c\n        status: Doing\n",
            ),
        ),
        (
            "a colon in a text",
            with("Right so far.", "Evaluation: right"),
        ),
        (
            "a text that begins with a quote",
            with("Right so far.", "\"Right\" it is"),
        ),
        (
            "a text that begins with a percent sign",
            with("Right so far.", "%5 of it"),
        ),
        ("a tab as indentation", with("    status", "\tstatus")),
        (
            "wrong indentation",
            with("    status: Done", "   status: Done"),
        ),
        ("brackets left open", with("Right so far.", "[Right")),
        (
            "quotes left open",
            fenced("current_thinking: 'x\nplanning: []\n"),
        ),
        (
            "thinking not indented",
            with("Right so far.", "|\nRight so far."),
        ),
        (
            "bold at the beginning",
            with("Right so far.", "*Right* so far."),
        ),
        ("an anchor", with("Right so far.", "&x Right")),
        ("a tag", with("Right so far.", "!Right")),
        (
            "an explicit key",
            with("current_thinking: Right", "? current_thinking\n: Right"),
        ),
        ("a value without a key", with("planning:", ": x\nplanning:")),
        (
            "a directive",
            with("current_thinking", "%YAML 1.1\n---\ncurrent_thinking"),
        ),
        ("two documents", with("planning:", "---\nplanning:")),
        (
            "a document after the end",
            with("planning:", "...\nplanning:"),
        ),
        ("a control character", with("so far", "so\u{1b}[31m far")),
        (
            "a comment after a text",
            with(
                "Right so far.",
                "Evaluation of thought #1: wrong, 3 was meant",
            ),
        ),
        ("a comment after a result", with("65.50", "option #4")),
        (
            "a comment after a further line",
            with("Right so far.", "Evaluation of\n  the thought\t#1"),
        ),
        (
            "a comment in brackets",
            fenced("current_thinking: x\nplanning: [{description: take #4\n}]\n"),
        ),
        (
            "a comment after a further line in brackets",
            fenced("planning: [{description: take\n  number #4}]\ncurrent_thinking: x\n"),
        ),
        ("a byte order mark", with("planning:", "\u{feff}planning:")),
        ("deep nesting", with("Right so far.", &"[".repeat(100))),
        (
            "a long line",
            with("result: 65.50", &format!("result: \"{long}\", 思{long}")),
        ),
        ("a long unknown key", with("planning", &format!("思{long}"))),
        (
            "a long wrong text",
            with("needed: true", &format!("needed: {long}")),
        ),
    ];

    let mut all = String::new();
    for (name, text) in cases {
        let Err(problem) = read(&text) else {
            all.push_str(&format!("## {name}: read\n\n"));
            continue;
        };
        let line = problem.to_string();
        assert!(
            !line.contains('\n') && line.chars().count() < 400,
            "{name}: {line}"
        );
        assert!(
            !format!("{problem:#}")
                .chars()
                .any(|c| c.is_control() && c != '\n'),
            "{name}"
        );

        all.push_str(&format!(
            "## {name} ({:?})\n{problem:#}\n\n",
            problem.kind()
        ));
    }

    insta::assert_snapshot!("complaints", all);
}
