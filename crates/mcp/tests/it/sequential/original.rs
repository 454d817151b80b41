//! The cases that the original has tests for.

use cogwork_mcp::Server;
use serde_json::{Value, json};

use super::support::{answer, record, thought};
use crate::support::{Client, connect, text};

async fn new_client() -> Client {
    connect(Server::builder()).await
}

#[tokio::test]
async fn a_thought_is_recorded() {
    let client = new_client().await;

    let answer = answer(&client, thought(json!({ "thought": "The first one" }))).await;

    let expected = json!({
        "thoughtNumber": 1,
        "totalThoughts": 3,
        "nextThoughtNeeded": true,
        "branches": [],
        "thoughtHistoryLength": 1,
    });
    assert_eq!(answer, expected);
}

#[tokio::test]
async fn optional_arguments_are_accepted() {
    let client = new_client().await;
    let arguments = thought(json!({
        "thoughtNumber": 2,
        "isRevision": true,
        "revisesThought": 1,
        "needsMoreThoughts": false,
    }));

    let answer = answer(&client, arguments).await;

    assert_eq!(answer["thoughtNumber"], 2);
    assert_eq!(answer["thoughtHistoryLength"], 1);
}

#[tokio::test]
async fn the_estimate_grows_with_the_number_of_the_thought() {
    let client = new_client().await;

    let answer = answer(&client, thought(json!({ "thoughtNumber": 5 }))).await;

    assert_eq!(answer["totalThoughts"], 5);
}

fn in_branch(id: &str, number: u64) -> Value {
    thought(json!({ "thoughtNumber": number, "branchFromThought": 1, "branchId": id }))
}

#[tokio::test]
async fn branches_are_listed() {
    let client = new_client().await;

    answer(&client, thought(json!({}))).await;
    answer(&client, in_branch("branch-a", 2)).await;
    let last = answer(&client, in_branch("branch-b", 2)).await;

    assert_eq!(last["branches"], json!(["branch-a", "branch-b"]));
    assert_eq!(last["thoughtHistoryLength"], 3);
}

#[tokio::test]
async fn a_result_is_one_text() {
    let client = new_client().await;

    let result = record(&client, thought(json!({}))).await;

    assert_eq!(result.content.len(), 1);
    assert_eq!(result.is_error, None);
}

#[tokio::test]
async fn the_text_is_indented_json_in_a_fixed_order() {
    let client = new_client().await;

    answer(&client, in_branch("b", 1)).await;
    let result = record(&client, in_branch("a", 2)).await;

    insta::assert_snapshot!(text(&result), @r#"
    {
      "thoughtNumber": 2,
      "totalThoughts": 3,
      "nextThoughtNeeded": true,
      "branches": [
        "b",
        "a"
      ],
      "thoughtHistoryLength": 2
    }
    "#);
}
