//! Saved states from elsewhere: damaged, hostile, or not what a run could have left.

use std::time::Duration;

use cogwork_cot::{ChainOfThought, EarlyEnd, Reasoning, Reply, TextError};
use cogwork_llm::ScriptedClient;
use cogwork_plan::Step;
use insta::assert_snapshot;

use crate::node::saving::FOREIGN;
use crate::node::support::{assert_survives_saving, solve};

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
    let by_serde = serde_json::from_str::<Reasoning>(text);
    assert!(by_serde.is_err());

    // JSON is YAML, and the same is said, at the place that the library knows.
    let yaml = Reasoning::from_yaml(text).unwrap_err();
    let ends_alike = yaml.message().ends_with(error.message());
    assert!(ends_alike, "{yaml} instead of {error}");
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

    // One that was saved while thought 3 was made.
    let begun = FOREIGN.replace(current, r#""current_thought_number": 3"#);
    assert!(Reasoning::from_json(&begun).is_ok());
}

#[test]
fn what_thoughts_have_cost_is_added_up_where_the_sum_is_missing() {
    let [before, first, second] = FOREIGN
        .split(r#""thought_number""#)
        .collect::<Vec<_>>()
        .try_into()
        .unwrap();
    let spent =
        |tokens| format!(r#"{{"spent": {{"estimated_tokens": {tokens}, "seconds": 1.5}}}}"#);
    let trace = |tokens| format!(r#""trace": {}, "thought_number""#, spent(tokens));
    let text = [before, &trace(100), first, &trace(50), second].concat();

    let spent = Reasoning::from_json(&text).unwrap().spent();
    assert_eq!((spent.tokens(), spent.time), (150, Duration::from_secs(3)));

    // An existing sum is kept: failed turns may have been charged to it.
    let sum = r#""spent": {"estimated_tokens": 400}, "problem""#;
    let charged = Reasoning::from_json(&text.replace(r#""problem""#, sum)).unwrap();
    assert_eq!(charged.spent().tokens(), 400);
}

/// Long keys are cut, and what is wrong with the text has its place.
#[test]
fn an_error_is_one_short_line_with_its_place() {
    let long = format!("{{\"problem\": \"思\", \"{}\": 1}}", "y".repeat(1_000_000));
    let mut said = Vec::new();
    for text in [&long, "{\"problem\": \"思考", "Sure! Here it is."] {
        for read in [Reasoning::from_json, Reasoning::from_yaml] {
            said.push(read(text).unwrap_err().to_string());
        }
    }
    let said = said.join("\n").replace(&"y".repeat(50), "y");
    assert_snapshot!(said);
}

#[tokio::test]
async fn the_deepest_plan_there_may_be_is_saved_and_read() {
    let step = (1..cogwork_plan::MAX_DEPTH).fold(Step::pending("deepest"), |step, _| {
        Step::pending("step").with_sub_steps([step])
    });
    let reply = Reply {
        current_thinking: "x".into(),
        planning: vec![step].into(),
        next_thought_needed: false,
    };

    let node = ChainOfThought::new(ScriptedClient::new([reply.to_string()]));
    let state = solve(node.with_early_end(EarlyEnd::Accept)).await;
    assert_survives_saving(&state);
    let json = serde_json::to_string(&state).unwrap();
    assert_eq!(Reasoning::from_yaml(&json), Ok(state));
}

#[test]
fn a_file_that_is_nested_or_long_is_refused() {
    let said = [
        Reasoning::from_json(&"[".repeat(1_000_000)),
        Reasoning::from_json(&format!("{{\"problem\": {}", "{\"a\": ".repeat(200_000))),
        Reasoning::from_json(&" ".repeat(64 * 1024 * 1024 + 1)),
        Reasoning::from_yaml(&" ".repeat(4 * 1024 * 1024 + 1)),
    ];
    let said = said.map(|read| read.unwrap_err().to_string());
    assert_snapshot!(said.join("\n"), @"
    invalid type: sequence, expected a string at line 1 column 1
    invalid type: map, expected a string at line 1 column 12
    the text has 67108865 bytes; expected at most 67108864
    the text has 4194305 bytes; expected at most 4194304
    ");
}
