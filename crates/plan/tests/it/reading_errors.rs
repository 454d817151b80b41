//! The errors for texts that aren't plans.

use cogwork_plan::{Plan, Status, Step};

/// The complaint, or nothing where there is none.
fn yaml(text: &str) -> String {
    serde_yaml::from_str::<Plan>(text)
        .err()
        .map(|error| error.to_string())
        .unwrap_or_default()
}

fn json(text: &str) -> String {
    serde_json::from_str::<Plan>(text)
        .err()
        .map(|error| error.to_string())
        .unwrap_or_default()
}

#[test]
fn an_unknown_status_lists_the_three() {
    insta::assert_snapshot!(yaml("- description: Add\n  status: Finished"), @r#".[0].status: unknown status "Finished", expected Pending, Done or Verification Needed at line 2 column 11"#);
    insta::assert_snapshot!(json(r#"[{"description": "Add", "status": "done"}]"#), @r#"unknown status "done", expected Pending, Done or Verification Needed at line 1 column 40"#);
    insta::assert_snapshot!(json(r#"[{"description": "Add", "status": 1}]"#), @"invalid type: integer `1`, expected a status: Pending, Done or Verification Needed at line 1 column 35");
    assert_eq!(
        "Verification needed"
            .parse::<Status>()
            .unwrap_err()
            .to_string(),
        "unknown status \"Verification needed\", expected Pending, Done or Verification Needed"
    );
}

#[test]
fn an_unknown_key_lists_the_known_ones() {
    let text = "- description: Multiply\n  status: Pending\n  sub_steps:\n  - description: Tens\n    status: Done\n    reslut: 600";
    insta::assert_snapshot!(yaml(text), @".[0].sub_steps[0]: unknown field `reslut`, expected one of `description`, `status`, `result`, `mark`, `sub_steps` at line 6 column 5");
    insta::assert_snapshot!(json(r#"[{"description": "Add", "state": "Done"}]"#), @"unknown field `state`, expected one of `description`, `status`, `result`, `mark`, `sub_steps` at line 1 column 31");
    insta::assert_snapshot!(yaml("- description: Add\n  status: Done\n  42: x"), @".[0]: unknown field `42`, expected one of `description`, `status`, `result`, `mark`, `sub_steps` at line 3 column 3");
}

#[test]
fn a_repeated_key_is_refused() {
    insta::assert_snapshot!(yaml("- description: Add\n  status: Done\n  status: Pending"), @".[0]: duplicate field `status` at line 3 column 3");
    insta::assert_snapshot!(json(r#"[{"description": "Add", "result": null, "result": "7"}]"#), @"duplicate field `result` at line 1 column 48");
}

#[test]
fn a_missing_key_is_named() {
    insta::assert_snapshot!(yaml("- description: Add"), @".[0]: missing field `status` at line 1 column 3");
    insta::assert_snapshot!(yaml("- description: Add\n  status: Done\n- status: Done"), @".[1]: missing field `description` at line 3 column 3");
    insta::assert_snapshot!(json(r#"[{"status": "Done"}]"#), @"missing field `description` at line 1 column 19");
    insta::assert_snapshot!(yaml("- description: Add\n  status: Done\n-"), @".[1]: invalid type: unit value, expected a plan step with description and status at line 3 column 2");
}

#[test]
fn a_description_of_nothing_is_refused() {
    insta::assert_snapshot!(yaml("- status: Done\n  description: null"), @".[0]: description is null, expected a text at line 1 column 3");
    insta::assert_snapshot!(json(r#"[{"description": null, "status": "Done"}]"#), @"description is null, expected a text at line 1 column 21");
}

#[test]
fn a_wrong_type_says_what_was_expected() {
    insta::assert_snapshot!(yaml("Add, then multiply"), @r#"invalid type: string "Add, then multiply", expected a list of plan steps"#);
    insta::assert_snapshot!(yaml("- Add\n- Multiply"), @r#".[0]: invalid type: string "Add", expected a plan step with description and status at line 1 column 3"#);
    insta::assert_snapshot!(yaml("null"), @"invalid type: unit value, expected a list of plan steps");
    insta::assert_snapshot!(yaml("description: Add\nstatus: Done"), @"invalid type: map, expected a list of plan steps");
    insta::assert_snapshot!(yaml("- description: [Add]\n  status: Done"), @".[0].description: invalid type: sequence, expected a text at line 1 column 16");
    insta::assert_snapshot!(yaml("- description: Add\n  status: Done\n  result: {sum: 7}"), @".[0].result: invalid type: map, expected a text at line 3 column 11");
    insta::assert_snapshot!(json(r#"[{"description": "Add", "status": "Done", "result": [7]}]"#), @"invalid type: sequence, expected a text at line 1 column 53");
    insta::assert_snapshot!(yaml("- description: Add\n  status: Done\n  sub_steps: later"), @r#".[0].sub_steps: invalid type: string "later", expected a list of plan steps at line 3 column 14"#);
    insta::assert_snapshot!(yaml("- description: Add\n  status: [Done]"), @".[0].status: invalid type: sequence, expected a status: Pending, Done or Verification Needed at line 2 column 11");
    insta::assert_snapshot!(yaml("- !step\n  description: Add\n  status: Done"), @".[0]: invalid type: enum, expected a plan step with description and status at line 1 column 3");
}

#[test]
fn a_long_text_is_quoted_in_part() {
    let long = "x".repeat(100_000);
    for text in [
        long.clone(),
        format!("- {long}"),
        format!("- {long}: 1"),
        format!("- description: Add\n  status: {long}"),
        format!("- description: Add\n  sub_steps: {long}"),
    ] {
        let message = yaml(&text);
        assert!(
            message.len() < 300,
            "{} bytes: {message:.300}",
            message.len()
        );

        assert!(message.contains("xxx…"), "{message}");
    }
}

#[test]
fn a_step_alone_is_refused_in_the_same_words() {
    insta::assert_snapshot!(serde_yaml::from_str::<Step>("description: Add\nstate: Done").unwrap_err(), @"unknown field `state`, expected one of `description`, `status`, `result`, `mark`, `sub_steps` at line 2 column 1");
}
