//! Saved states from elsewhere: damaged, hostile, or not what a run could have left.

use std::time::Duration;

use cogwork_cot::{ChainOfThought, EarlyEnd, Reasoning, Reply, ScriptedClient, Step, TextError};
use insta::assert_snapshot;

use crate::node::saving::FOREIGN;

/// A state of two thoughts, of which the second ends the reasoning.
fn ended() -> String {
    let (first, second) = FOREIGN.split_at(FOREIGN.find(r#""thought_number": 2"#).unwrap());
    let second = second
        .replace("true", "false")
        .replace("null\n", "\"Better look again.\"\n");
    format!("{first}{second}")
}

fn refused(text: &str) -> TextError {
    let error = Reasoning::from_json(text).unwrap_err();
    assert!(
        serde_json::from_str::<Reasoning>(text).is_err(),
        "refused by serde too"
    );

    // JSON is YAML, and the same is said, at the place that the library knows.
    let yaml = Reasoning::from_yaml(text).unwrap_err();
    assert!(
        yaml.message().ends_with(error.message()),
        "{yaml} instead of {error}"
    );
    error
}

#[test]
fn a_state_that_no_run_could_have_left_is_refused_with_the_thought_named() {
    let ended = ended();
    assert!(Reasoning::from_json(&ended).unwrap().answer().is_some());
    let with = |text: &str, from: &str, to: &str| {
        assert!(text.contains(from), "{from}");
        refused(&text.replacen(from, to, 1)).to_string()
    };
    let cases = [
        with(
            FOREIGN,
            r#""solution": null"#,
            r#""solution": "Better look again.""#,
        ),
        with(
            &ended,
            r#""solution": "Better look again.""#,
            r#""solution": null"#,
        ),
        with(
            &ended,
            r#""solution": "Better look again.""#,
            r#""solution": "42""#,
        ),
        with(
            &ended,
            r#""next_thought_needed": true"#,
            r#""next_thought_needed": false"#,
        ),
        with(
            FOREIGN,
            r#""current_thought_number": 2"#,
            r#""current_thought_number": 1"#,
        ),
        with(
            FOREIGN,
            r#""current_thought_number": 2"#,
            r#""current_thought_number": 4"#,
        ),
        with(FOREIGN, "Better look again.", " \\n"),
        with(FOREIGN, "I multiply, then add.", ""),
        refused(
            r#"{"problem": "x", "current_thought_number": 1, "thoughts": [{"thought_number": 1,
            "current_thinking": "y", "planning": [], "next_thought_needed": true}]}"#,
        )
        .to_string(),
        refused(
            r#"{"problem": "x", "thoughts": [], "current_thought_number": 0, "solution": "y"}"#,
        )
        .to_string(),
        refused(r#"{"problem": "x", "thoughts": [], "current_thought_number": 77}"#).to_string(),
    ];

    assert_snapshot!(cases.join("\n"), @"
    there is a `solution`, but thought 2, the last one, does not end the reasoning; expected null, or `next_thought_needed: false` in thought 2
    thought 2 ends the reasoning, but there is no `solution`; expected the `current_thinking` of thought 2
    `solution` differs from the `current_thinking` of thought 2, which ends the reasoning; expected the same text
    line 23, column 3: thought 1 ends the reasoning, but thought 2 follows it; expected `next_thought_needed: false` in the last thought only
    `current_thought_number` is 1, but there are 2 thoughts; expected 2 or 3
    `current_thought_number` is 4, but there are 2 thoughts; expected 2 or 3
    line 23, column 3: thought 2: `current_thinking` is empty; expected the evaluation and the thinking
    line 13, column 4: thought 1: `current_thinking` is empty; expected the evaluation and the thinking
    line 2, column 82: thought 1: `planning` is empty; expected at least one step
    there is a `solution`, but no thought; expected null
    `current_thought_number` is 77, but there are 0 thoughts; expected 0 or 1
    ");

    let begun = FOREIGN.replace(
        r#""current_thought_number": 2"#,
        r#""current_thought_number": 3"#,
    );
    assert!(
        Reasoning::from_json(&begun).is_ok(),
        "saved while thought 3 was made"
    );
}

#[test]
fn what_thoughts_have_cost_is_added_up_where_the_sum_is_missing() {
    let trace = |tokens: u32| {
        format!(
            r#""trace": {{"spent": {{"estimated_tokens": {tokens}, "seconds": 1.5}}}}, "thought_number""#
        )
    };

    let text = FOREIGN.replacen(r#""thought_number""#, &trace(100), 1);
    let second = text.rfind(r#""thought_number""#).unwrap();
    let text = format!(
        "{}{}",
        &text[..second],
        text[second..].replacen(r#""thought_number""#, &trace(50), 1)
    );

    let spent = Reasoning::from_json(&text).unwrap().spent();
    assert_eq!((spent.tokens(), spent.time), (150, Duration::from_secs(3)));

    // An existing sum is kept: failed turns may have been charged to it.
    let charged = text.replace(
        r#""problem""#,
        r#""spent": {"estimated_tokens": 400}, "problem""#,
    );
    assert_eq!(
        Reasoning::from_json(&charged).unwrap().spent().tokens(),
        400
    );
}

#[test]
fn an_error_is_one_harmless_line_with_its_place_and_an_excerpt() {
    let escapes = "{\"problem\": \"x\",\n \"a\\nb\\u001b[2J\": 1}";
    let error = Reasoning::from_json(escapes).unwrap_err();
    assert_snapshot!(format!("{error:#}"), @r#"
    line 2, column 16: unknown field `a b�[2J`, expected one of `problem`, `thoughts`, `current_thought_number`, `solution`, `spent`, `cut_short`
       1 | {"problem": "x",
       2 |  "a\nb\u001b[2J": 1}
         |                ^
    "#);

    assert_eq!(format!("{error:?}"), format!("{error:#}"));
    assert_eq!((error.line(), error.column()), (Some(2), Some(16)));

    let long = format!(
        "{{\"problem\": \"思{}\", \"{}\": 1}}",
        "思".repeat(200),
        "y".repeat(1_000_000)
    );

    let cases = [
        ("a long key", long.as_str()),
        ("nothing", ""),
        ("an end too early", "{\"problem\": \"思考"),
        ("an end after a line", "{\n"),
        ("prose", "Sure! Here it is."),
        ("a list", "[[]]"),
        ("a byte order mark", "\u{feff}{}"),
        ("NUL", "\0"),
        ("a control character", "{\"problem\": \"\u{1b}[2J\"}"),
        ("more than one value", "{} {}"),
        (
            "text for thoughts",
            "{\"thoughts\": \"\\u001b]0;x\\u0007\\n\"}",
        ),
    ];

    let mut said = String::new();
    for (name, text) in cases {
        for (format, error) in [
            ("JSON", Reasoning::from_json(text)),
            ("YAML", Reasoning::from_yaml(text)),
        ] {
            let error = error.unwrap_err();
            let line = error.to_string();
            assert!(
                line.chars().count() < 400 && !line.contains(char::is_control),
                "{name}: {line:?}"
            );
            let lines = format!("{error:#}");

            assert!(
                lines.len() < 2000 && !lines.contains(|c: char| c.is_control() && c != '\n'),
                "{lines:?}"
            );
            said.push_str(&format!("{name}, {format}: {line}\n"));
        }
    }

    assert_snapshot!(said, @r#"
    a long key, JSON: line 1, column 1000219: unknown field `yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy … yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy`, expected one of `problem`, `thoughts`, `current_thought_number`, `solution`, `spent`, `cut_short`
    a long key, YAML: line 1, column 218: unknown field `yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy … yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy`, expected one of `problem`, `thoughts`, `current_thought_number`, `solution`, `spent`, `cut_short`
    nothing, JSON: line 1, column 1: EOF while parsing a value
    nothing, YAML: line 1, column 1: missing field `problem`
    an end too early, JSON: line 1, column 15: EOF while parsing a string
    an end too early, YAML: line 1, column 16: found unexpected end of stream, while scanning a quoted scalar
    an end after a line, JSON: line 2, column 1: EOF while parsing an object
    an end after a line, YAML: line 2, column 1: did not find expected node content, while parsing a flow node
    prose, JSON: line 1, column 1: expected value
    prose, YAML: line 1, column 1: invalid type: string "Sure! Here it is.", expected a mapping with the keys problem, thoughts, current_thought_number and solution
    a list, JSON: line 1, column 1: invalid type: sequence, expected a string
    a list, YAML: line 1, column 1: invalid type: sequence, expected a mapping with the keys problem, thoughts, current_thought_number and solution
    a byte order mark, JSON: line 1, column 1: expected value
    a byte order mark, YAML: line 1, column 2: missing field `problem`
    NUL, JSON: line 1, column 1: expected value
    NUL, YAML: line 1, column 1: control characters are not allowed
    a control character, JSON: line 1, column 14: control character (\u0000-\u001F) found while parsing a string
    a control character, YAML: line 1, column 1: control characters are not allowed at position 13
    more than one value, JSON: line 1, column 2: missing field `problem`
    more than one value, YAML: line 1, column 1: missing field `problem`
    text for thoughts, JSON: line 1, column 33: invalid type: string "\u{1b}]0;x\u{7}\n", expected a list of thoughts
    text for thoughts, YAML: line 1, column 14: thoughts: invalid type: string "\u{1b}]0;x\u{7}\n", expected a list of thoughts
    "#);
}

#[tokio::test]
async fn the_deepest_plan_there_may_be_is_saved_and_read() {
    let mut step = Step::pending("deepest");
    for _ in 1..cogwork_plan::MAX_DEPTH {
        step = Step::pending("step").with_sub_steps([step]);
    }

    let reply = Reply {
        current_thinking: "x".into(),
        planning: vec![step].into(),
        next_thought_needed: false,
    };

    let node = ChainOfThought::new(ScriptedClient::new([reply.to_string()]))
        .with_early_end(EarlyEnd::Accept);
    let mut state = Reasoning::new("How deep?");
    node.into_flow().run(&mut state).await.unwrap();
    let json = serde_json::to_string(&state).unwrap();
    let yaml = serde_yaml::to_string(&state).unwrap();

    assert_eq!(Reasoning::from_yaml(&json), Ok(state.clone()));
    assert_eq!(
        (Reasoning::from_json(&json), Reasoning::from_yaml(&yaml)),
        (Ok(state.clone()), Ok(state))
    );
}

/// No time is asserted: some of these would keep the YAML library busy for minutes.
#[test]
fn a_file_made_to_hurt_is_refused_first() {
    let state = |rest: &str| {
        Reasoning::from_yaml(&format!(
            "problem: x\nthoughts: []\ncurrent_thought_number: 0\n{rest}"
        ))
        .unwrap_err()
        .to_string()
    };

    let said = [
        state(&format!("spent: {}", "[".repeat(20_000))),
        Reasoning::from_json(&"[".repeat(1_000_000))
            .unwrap_err()
            .to_string(),
        Reasoning::from_json(&format!("{{\"problem\": {}", "{\"a\": ".repeat(200_000)))
            .unwrap_err()
            .to_string(),
    ];

    assert_snapshot!(said.join("\n"), @"
    line 4, column 8: spent: invalid type: sequence, expected struct Spent
    line 1, column 1: invalid type: sequence, expected a string
    line 1, column 12: invalid type: map, expected a string
    ");

    let yaml = Reasoning::from_yaml(&" ".repeat(4 * 1024 * 1024 + 1)).unwrap_err();
    assert_snapshot!(yaml, @"the saved state is 4194305 bytes long; at most 4194304 are read");
    let json = Reasoning::from_json(&" ".repeat(64 * 1024 * 1024 + 1)).unwrap_err();

    assert_snapshot!(json, @"the saved state is 67108865 bytes long; at most 67108864 are read");
}
