//! Saved states from elsewhere: damaged, hostile, or not what a run could have left.

use std::time::Duration;

use cogwork_cot::{ChainOfThought, EarlyEnd, Reasoning, Reply, TextError};
use cogwork_llm::ScriptedClient;
use cogwork_plan::Step;
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
    assert!(Reasoning::from_json(&ended).unwrap().solution().is_some());
    let with = |text: &str, from: &str, to: &str| {
        assert!(text.contains(from), "{from}");
        refused(&text.replacen(from, to, 1)).to_string()
    };
    let answer = r#""solution": "Better look again.""#;
    let current = r#""current_thought_number": 2"#;
    let needed = r#""next_thought_needed": true"#;
    let cases = [
        with(FOREIGN, r#""solution": null"#, answer),
        with(&ended, answer, r#""solution": null"#),
        with(&ended, answer, r#""solution": "42""#),
        with(&ended, needed, r#""next_thought_needed": false"#),
        with(FOREIGN, current, r#""current_thought_number": 1"#),
        with(FOREIGN, current, r#""current_thought_number": 4"#),
        with(FOREIGN, "Better look again.", " \\n"),
    ];

    assert_snapshot!(cases.join("\n"), @"
    `solution` is wrong; expected null, because no thought ends the reasoning
    `solution` is wrong; expected the `current_thinking` of thought 2
    `solution` is wrong; expected the `current_thinking` of thought 2
    thought 1: `next_thought_needed` is false; expected true, because another thought follows
    `current_thought_number` is 1; expected 2 or 3
    `current_thought_number` is 4; expected 2 or 3
    thought 2: `current_thinking` is empty; expected the evaluation and the thinking
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
fn an_error_is_one_harmless_line_with_its_place() {
    let long = format!(
        "{{\"problem\": \"思{}\", \"{}\": 1}}",
        "思".repeat(200),
        "y".repeat(1_000_000)
    );

    let cases = [
        ("a long key", long.as_str()),
        ("an end too early", "{\"problem\": \"思考"),
        ("prose", "Sure! Here it is."),
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
            said.push_str(&format!("{name}, {format}: {line}\n"));
        }
    }

    assert_snapshot!(said, @r#"
    a long key, JSON: unknown field `yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy … yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy`, expected one of `problem`, `thoughts`, `current_thought_number`, `solution`, `spent`, `cut_short` at line 1 column 1000621
    a long key, YAML: unknown field `yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy … yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy`, expected one of `problem`, `thoughts`, `current_thought_number`, `solution`, `spent`, `cut_short` at line 1 column 218
    an end too early, JSON: EOF while parsing a string at line 1 column 19
    an end too early, YAML: found unexpected end of stream at line 1 column 16, while scanning a quoted scalar at line 1 column 13
    prose, JSON: expected value at line 1 column 1
    prose, YAML: invalid type: string "Sure! Here it is.", expected a mapping with the keys problem, thoughts, current_thought_number and solution
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

#[test]
fn a_file_that_is_nested_or_long_is_refused() {
    let said = [
        Reasoning::from_json(&"[".repeat(1_000_000))
            .unwrap_err()
            .to_string(),
        Reasoning::from_json(&format!("{{\"problem\": {}", "{\"a\": ".repeat(200_000)))
            .unwrap_err()
            .to_string(),
    ];

    assert_snapshot!(said.join("\n"), @"
    invalid type: sequence, expected a string at line 1 column 1
    invalid type: map, expected a string at line 1 column 12
    ");

    let yaml = Reasoning::from_yaml(&" ".repeat(4 * 1024 * 1024 + 1)).unwrap_err();
    assert_snapshot!(yaml, @"the text has 4194305 bytes; expected at most 4194304");
    let json = Reasoning::from_json(&" ".repeat(64 * 1024 * 1024 + 1)).unwrap_err();

    assert_snapshot!(json, @"the text has 67108865 bytes; expected at most 67108864");
}
