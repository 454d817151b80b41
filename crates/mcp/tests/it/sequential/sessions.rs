//! Sessions with and without a name, and after a restart.

use cogwork_mcp::{Server, ServerBuilder, ServerLimits};
use serde_json::{Value, json};

use super::support::{answer, refusal, thought};
use crate::support::{Client, client_of, connect};
use crate::wire::support::Connection;

async fn count(client: &Client, arguments: Value) -> u64 {
    let answer = answer(client, thought(arguments)).await;
    answer["thoughtHistoryLength"].as_u64().expect("a number")
}

fn persistent(folder: &tempfile::TempDir) -> ServerBuilder {
    Server::builder().with_data(folder.path().join("data"))
}

#[tokio::test]
async fn each_connection_starts_with_an_empty_session() {
    let server = Server::builder().open().expect("a server");
    let first = client_of(&server).await;
    let second = client_of(&server).await;

    assert_eq!(count(&first, json!({})).await, 1);
    assert_eq!(count(&first, json!({})).await, 2);
    assert_eq!(count(&second, json!({})).await, 1);
}

#[tokio::test]
async fn connections_share_the_sessions_that_have_a_name() {
    let server = Server::builder().open().expect("a server");
    let first = client_of(&server).await;
    let second = client_of(&server).await;

    assert_eq!(count(&first, json!({ "sessionId": "a" })).await, 1);
    assert_eq!(count(&second, json!({ "sessionId": "a" })).await, 2);
    assert_eq!(count(&second, json!({ "sessionId": "b" })).await, 1);
}

#[tokio::test]
async fn calls_without_a_name_are_independent_of_the_others() {
    let client = connect(Server::builder()).await;

    assert_eq!(count(&client, json!({})).await, 1);
    assert_eq!(count(&client, json!({ "sessionId": "a" })).await, 1);
    assert_eq!(count(&client, json!({ "sessionId": null })).await, 2);
}

#[tokio::test]
async fn an_id_that_cannot_be_one_is_refused() {
    let client = connect(Server::builder()).await;
    let long = "a".repeat(129);

    for id in ["", "a b", "a/b", "ä", "\u{1b}[2J", &long] {
        let refusal = refusal(&client, thought(json!({ "sessionId": id }))).await;
        assert!(refusal.contains("1 to 128 ASCII letters"), "{refusal}");
    }
}

#[tokio::test]
async fn a_session_with_a_name_survives_a_restart() {
    let folder = tempfile::tempdir().expect("a folder");
    let branch = json!({ "sessionId": "a", "branchFromThought": 1, "branchId": "b" });

    let client = connect(persistent(&folder)).await;
    count(&client, json!({ "sessionId": "a" })).await;
    count(&client, branch).await;
    drop(client);

    let client = connect(persistent(&folder)).await;
    let answer = answer(&client, thought(json!({ "sessionId": "a" }))).await;
    assert_eq!(answer["thoughtHistoryLength"], 3);
    assert_eq!(answer["branches"], json!(["b"]));
}

#[tokio::test]
async fn sessions_without_a_name_make_room_for_others() {
    let limits = ServerLimits {
        sessions: 2,
        ..ServerLimits::default()
    };
    let server = Server::builder().with_limits(limits);
    let server = server.open().expect("a server");
    let unnamed = client_of(&server).await;
    let client = client_of(&server).await;

    count(&unnamed, json!({})).await;
    count(&client, json!({ "sessionId": "a" })).await;
    assert_eq!(count(&client, json!({ "sessionId": "b" })).await, 1);
    assert_eq!(count(&client, json!({ "sessionId": "a" })).await, 2);

    let refusal = refusal(&client, thought(json!({ "sessionId": "c" }))).await;
    assert_eq!(refusal, "there already are 2 sessions; at most 2 are kept");
}

#[tokio::test]
async fn calls_that_overlap_are_recorded_in_the_order_in_which_they_arrive() {
    const CALLS: u64 = 200;

    let mut connection = Connection::open(ServerLimits::default()).await;
    for id in 1..=CALLS {
        let params = json!({ "name": "sequentialthinking", "arguments": thought(json!({})) });
        let call = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params });
        connection.send(&call).await;
    }

    let mut counts = Vec::new();
    for _ in 0..CALLS {
        let answer = connection.receive().await.expect("an answer");
        let count = &answer["result"]["structuredContent"]["thoughtHistoryLength"];
        assert_eq!(answer["id"], *count);
        counts.push(count.as_u64().expect("a number"));
    }
    counts.sort_unstable();
    assert_eq!(counts, (1..=CALLS).collect::<Vec<_>>());
}
