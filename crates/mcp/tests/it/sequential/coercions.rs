//! What is accepted for each argument, and the texts of errors.

use cogwork_mcp::{Server, ServerLimits};
use serde_json::json;

use super::support::{answer, refusal, thought};
use crate::support::connect;

#[tokio::test]
async fn numbers_may_be_texts() {
    let client = connect(Server::builder()).await;
    let cases = [
        (json!("3"), 3),
        (json!(" 3\t\n"), 3),
        (json!("3.0"), 3),
        (json!("1e3"), 1_000),
        (json!("9007199254740991"), 9_007_199_254_740_991_u64),
        (json!(9_007_199_254_740_991_u64), 9_007_199_254_740_991),
        (json!(1.0), 1),
    ];

    for (value, expected) in cases {
        let arguments = thought(json!({ "thoughtNumber": value }));
        let answer = answer(&client, arguments).await;
        assert_eq!(answer["thoughtNumber"], expected, "{value}");
    }
}

#[tokio::test]
async fn booleans_may_be_texts_in_any_case() {
    let client = connect(Server::builder()).await;

    for (value, expected) in [("true", true), ("TRUE", true), ("False", false)] {
        let arguments = json!({
            "nextThoughtNeeded": value,
            "isRevision": value,
            "needsMoreThoughts": value,
        });
        let answer = answer(&client, thought(arguments)).await;
        assert_eq!(answer["nextThoughtNeeded"], expected, "{value}");
    }
}

#[tokio::test]
async fn other_values_are_refused_and_change_nothing() {
    let client = connect(Server::builder()).await;
    answer(&client, thought(json!({}))).await;

    let mut lines = Vec::new();
    for others in [
        json!({"thought": null}),
        json!({"thought": 1}),
        json!({"thoughtNumber": "abc"}),
        json!({"thoughtNumber": "NaN"}),
        json!({"thoughtNumber": 0}),
        json!({"totalThoughts": 1.5}),
        json!({"totalThoughts": true}),
        json!({"revisesThought": [3]}),
        json!({"branchFromThought": 9_007_199_254_740_992_u64}),
        json!({"branchId": {}}),
        json!({"nextThoughtNeeded": "maybe"}),
        json!({"needsMoreThoughts": 1}),
        json!({"sessionId": "a b"}),
    ] {
        lines.push(refusal(&client, thought(others)).await);
    }
    insta::assert_snapshot!(lines.join("\n"), @r#"
    `thought` is missing, expected a text
    `thought` is 1, expected a text
    `thoughtNumber` is the text "abc", expected an integer from 1 to 9007199254740991
    `thoughtNumber` is the text "NaN", expected an integer from 1 to 9007199254740991
    `thoughtNumber` is 0, expected an integer from 1 to 9007199254740991
    `totalThoughts` is 1.5, expected an integer from 1 to 9007199254740991
    `totalThoughts` is true, expected an integer from 1 to 9007199254740991
    `revisesThought` is a list, expected an integer from 1 to 9007199254740991
    `branchFromThought` is 9007199254740992, expected an integer from 1 to 9007199254740991
    `branchId` is an object, expected a text
    `nextThoughtNeeded` is the text "maybe", expected true or false
    `needsMoreThoughts` is 1, expected true or false
    `sessionId` is the text "a b", expected 1 to 128 ASCII letters, digits, `-`, `_`, `.` or `:`
    "#);

    let last = answer(&client, thought(json!({}))).await;
    assert_eq!(last["thoughtHistoryLength"], 2);
}

#[tokio::test]
async fn a_branch_needs_a_name_and_a_start() {
    let client = connect(Server::builder()).await;

    answer(&client, thought(json!({ "branchId": "b" }))).await;
    answer(&client, thought(json!({ "branchFromThought": 1 }))).await;
    answer(
        &client,
        thought(json!({ "branchId": "", "branchFromThought": 1 })),
    )
    .await;
    let last = answer(&client, thought(json!({ "thought": "", "other": 1 }))).await;

    assert_eq!(last["branches"], json!([]));
    assert_eq!(last["thoughtHistoryLength"], 4);
}

#[tokio::test]
async fn revisions_and_branches_of_unknown_thoughts_are_accepted() {
    let client = connect(Server::builder()).await;
    let arguments = json!({ "branchFromThought": 99, "branchId": "b", "revisesThought": 7 });

    let answer = answer(&client, thought(arguments)).await;

    assert_eq!(answer["branches"], json!(["b"]));
}

#[tokio::test]
async fn a_text_that_is_too_long_is_refused() {
    let limits = ServerLimits {
        thought_bytes: 4,
        ..ServerLimits::default()
    };
    let client = connect(Server::builder().with_limits(limits)).await;

    answer(&client, thought(json!({ "thought": "four" }))).await;
    assert_eq!(
        refusal(&client, thought(json!({ "thought": "fünf" }))).await,
        "`thought` is 5 bytes long, expected at most 4 bytes"
    );
}
