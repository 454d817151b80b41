//! What is accepted for each argument, and the texts of errors.

use cogwork_mcp::{Server, ServerLimits};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::support::{answer, refusal, thought};
use crate::host::{Era, Host};
use crate::resources::support::{read, think};
use crate::support::connect;

#[tokio::test]
async fn numbers_may_be_texts() {
    let client = connect(Server::builder()).await;
    let cases = [
        (json!("3"), 3),
        (json!(" 3\t\n"), 3),
        (json!("3.0"), 3),
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
        json!({"thoughtNumber": "abc"}),
        json!({"thoughtNumber": "NaN"}),
        json!({"thoughtNumber": 0}),
        json!({"totalThoughts": 1.5}),
        json!({"totalThoughts": true}),
        json!({"branchFromThought": 9_007_199_254_740_992_u64}),
        json!({"nextThoughtNeeded": "maybe"}),
        json!({"needsMoreThoughts": 1}),
        json!({"sessionId": "a b"}),
    ] {
        lines.push(refusal(&client, thought(others)).await);
    }
    insta::assert_snapshot!(lines.join("\n"));

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
async fn arguments_that_are_too_long_are_refused() {
    let limits = ServerLimits {
        argument_bytes: 100,
        ..ServerLimits::default()
    };
    let client = connect(Server::builder().with_limits(limits)).await;

    answer(&client, thought(json!({ "thought": "x" }))).await;
    let long = thought(json!({ "thought": "x".repeat(100) }));
    let refused = refusal(&client, long).await;
    assert!(refused.ends_with("expected at most 100"), "{refused}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_thought_is_recorded_as_it_was_sent(text in "\\PC{0,40}|[`{}\\[\\]\":,\n<>/-]{0,40}|</think>.{0,20}|```json\n.{0,20}\n```") {
        let runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = { runtime }.enable_all().build().expect("a runtime");
        runtime.block_on(async {
            let server = Server::builder().open().expect("the server opens");
            let host = Host::connect(&server, Era::Initialize).await;
            think(&host, "any", json!({"thought": text})).await;

            let stored = read(&host, "cogwork://sessions/any/json").await.expect("JSON");
            let stored: Value = serde_json::from_str(&stored).expect("JSON");
            assert_eq!(stored["entries"][0]["thought"], json!(text));
        });
    }
}
