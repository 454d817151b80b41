//! The example `stage_walk` as a program: what it prints, and its exit codes.

#![expect(
    clippy::expect_used,
    reason = "the helpers of tests may, as the tests do"
)]

use serde_json::{Value, json};

use crate::program;

/// The exit code, standard output and standard error.
fn run(arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = program::example("stage_walk")
        .args(arguments)
        .output()
        .expect("the example ends");
    let text = |bytes| String::from_utf8(bytes).expect("text");
    (
        output.status.code(),
        text(output.stdout),
        text(output.stderr),
    )
}

fn refusal(arguments: &[&str]) -> Value {
    let (code, out, err) = run(arguments);
    assert_eq!((code, err.as_str()), (Some(1), ""), "{out}");
    serde_json::from_str(&out).expect("nothing but JSON")
}

#[test]
fn a_legal_walk_with_placeholders() {
    let walk = [
        "react",
        "problem_reception",
        "initial_reasoning",
        "action_planning",
        "action_execution",
    ];

    let (code, out, _) = run(&walk);
    assert_eq!(
        (code, out.as_str()),
        (
            Some(0),
            "1 problem_reception\n2 initial_reasoning\n3 action_planning\n4 action_execution\n\
             next: observation_reception\n"
        )
    );

    let refusal = refusal(&[
        "self_ask",
        "problem_decomposition",
        "sub_question_formulation:sub_question=Who?,sub_question_number=one",
    ]);
    assert_eq!(refusal["from"], "problem_decomposition");
    let number = "`sub_question_number`: found the text \"one\"; expected an integer from 1";
    assert_eq!(
        refusal["mistyped"],
        json!([format!(
            "the stage `sub_question_formulation` of `self_ask`: {number}"
        )])
    );
}

#[test]
fn a_walk_to_the_end() {
    let walk = [
        "linear",
        "initial_thought_planning",
        "thought_generation",
        "thought_evaluation",
        "thought_revision:revises_thought=2",
        "continuation_decision",
        "branch_creation:branch_from_thought=1,branch_id=a, b",
        "thought_generation",
        "thought_evaluation",
        "continuation_decision",
        "hypothesis_generation",
        "hypothesis_verification",
        "solution_finalization",
        "final_response",
    ];

    let (code, out, _) = run(&walk);
    assert_eq!((code, out.lines().last()), (Some(0), Some("complete")));
    assert_eq!(
        refusal(&[&walk[..], &["problem_reception"]].concat())["allowed"],
        json!([])
    );
}

#[test]
fn the_first_refusal_ends_the_walk() {
    let refusal_of_a_jump = refusal(&["step_back", "abstraction", "final_response", "nowhere"]);
    assert_eq!(
        refusal_of_a_jump,
        json!({
            "kind": "refused",
            "strategy": "step_back",
            "from": "abstraction",
            "attempted": "final_response",
            "reason": "illegal_move",
            "allowed": ["principle_identification"],
            "missing": [],
            "mistyped": [],
            "unknown": [],
        })
    );

    let lacking = refusal(&["step_back", "abstraction", "principle_identification:"]);
    assert_eq!(
        (&lacking["reason"], &lacking["missing"]),
        (&json!("parameters"), &json!(["principle"]))
    );
}

#[test]
fn tables_and_names() {
    let (code, out, _) = run(&["linear", "--table"]);
    let given: Value = serde_json::from_str(include_str!(
        "../../../crates/strategies/tests/source/strategy-stages.json"
    ))
    .expect("JSON");
    assert_eq!(
        (code, serde_json::from_str::<Value>(&out).expect("JSON")),
        (Some(0), given["linear"].clone())
    );

    let (code, out, err) = run(&["liner", "problem_reception"]);
    assert_eq!((code, out.as_str()), (Some(2), ""));
    assert!(
        err.starts_with("`liner` is not a strategy; expected `linear`, `chain_of_thought`,"),
        "{err}"
    );
    assert_eq!(run(&["--help"]).0, Some(0));
}
