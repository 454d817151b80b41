//! Refusing what refers to thoughts that don't exist.

use cogwork_mcp::{Server, ServerLimits};
use serde_json::{Value, json};

use super::support::{answer, record, refusal, thought};
use crate::support::{Client, connect};

async fn strict() -> Client {
    connect(Server::builder().with_strict(true)).await
}

async fn refused(client: &Client, arguments: Value) -> String {
    refusal(client, thought(arguments)).await
}

#[tokio::test]
async fn references_to_unknown_thoughts_are_refused() {
    let client = strict().await;

    insta::assert_snapshot!(
        refused(&client, json!({ "revisesThought": 1 })).await,
        @"`revisesThought`: there is no thought 1; there are no thoughts yet"
    );

    answer(&client, thought(json!({}))).await;
    answer(&client, thought(json!({ "thoughtNumber": 2 }))).await;

    insta::assert_snapshot!(
        refused(&client, json!({ "isRevision": true, "revisesThought": 7 })).await,
        @"`revisesThought`: there is no thought 7; expected the number of a thought of this session; the last one is 2"
    );
    insta::assert_snapshot!(
        refused(&client, json!({ "branchFromThought": 99, "branchId": "b" })).await,
        @"`branchFromThought`: there is no thought 99; expected the number of a thought of this session; the last one is 2"
    );
    insta::assert_snapshot!(
        refused(&client, json!({ "isRevision": true })).await,
        @"`isRevision` is true, so `revisesThought` is needed: the number of a thought"
    );
    insta::assert_snapshot!(
        refused(&client, json!({ "branchId": "b\u{1b}[2J" })).await,
        @r"`branchId`: there is no branch `b\u{1b}[2J`; set `branchFromThought` as well to start one"
    );
}

#[tokio::test]
async fn a_refused_thought_is_not_counted() {
    let client = strict().await;

    answer(&client, thought(json!({}))).await;
    record(&client, thought(json!({ "revisesThought": 9 }))).await;
    let last = answer(&client, thought(json!({ "thoughtNumber": 2 }))).await;

    assert_eq!(last["thoughtHistoryLength"], 2);
}

#[tokio::test]
async fn a_thought_that_was_dropped_does_not_exist() {
    let limits = ServerLimits {
        thoughts: 2,
        ..ServerLimits::default()
    };
    let client = connect(Server::builder().with_strict(true).with_limits(limits)).await;

    for number in 1..=3 {
        answer(&client, thought(json!({ "thoughtNumber": number }))).await;
    }

    answer(
        &client,
        thought(json!({ "thoughtNumber": 4, "revisesThought": 3 })),
    )
    .await;
    insta::assert_snapshot!(
        refused(&client, json!({ "revisesThought": 2 })).await,
        @"`revisesThought`: there is no thought 2; expected the number of a thought of this session; the last one is 4"
    );
}
