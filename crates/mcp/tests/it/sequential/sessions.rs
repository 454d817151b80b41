//! Bounds of sessions, and calls that overlap. What sessions of all tools have in common is in
//! `sessions`.

use cogwork_mcp::{Server, ServerLimits};
use rusqlite::Connection as Database;
use serde_json::{Value, json};

use crate::support::{Client, thought};
use crate::wire::Connection;

#[tokio::test]
async fn sessions_without_a_name_make_room_for_others() {
    let limits = ServerLimits {
        sessions: 2,
        ..ServerLimits::default()
    };
    let server = Server::builder().with_limits(limits);
    let server = server.open().expect("a server");
    let unnamed = Client::of(&server).await;
    let client = Client::of(&server).await;

    unnamed.count(json!({})).await;
    client.count(json!({"sessionId": "a"})).await;
    assert_eq!(client.count(json!({"sessionId": "b"})).await, 1);
    assert_eq!(client.count(json!({"sessionId": "a"})).await, 2);

    let third = thought(json!({"sessionId": "c"}));
    let refused = client.refused("sequentialthinking", third).await;
    assert_eq!(refused, "there already are 2 sessions; at most 2 are kept");
}

#[tokio::test]
async fn calls_that_overlap_are_recorded_in_the_order_in_which_they_arrive() {
    const CALLS: u64 = 200;

    let mut connection = Connection::new(Server::builder()).await;
    for id in 1..=CALLS {
        let params = json!({"name": "sequentialthinking", "arguments": thought(json!({}))});
        let call = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params});
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

#[tokio::test]
async fn the_oldest_thoughts_are_dropped_and_remain_counted() {
    let folder = tempfile::tempdir().expect("a folder");
    let limits = ServerLimits {
        thoughts: 100,
        ..ServerLimits::default()
    };
    let server = Server::builder().with_limits(limits);
    let client = Client::new(server.with_data(folder.path())).await;
    for number in 1..=115 {
        assert_eq!(client.count(json!({"thoughtNumber": number})).await, number);
    }

    let database = Database::open(folder.path().join("sessions.sqlite")).expect("a database");
    let kept = "SELECT min(number), max(number), count(*) FROM entries";
    let kept = database.query_row(kept, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)));
    let kept: (i64, i64, i64) = kept.expect("a row");
    assert_eq!(kept, (16, 115, 100));
}

#[tokio::test]
async fn the_branches_that_began_last_are_listed() {
    let limits = ServerLimits {
        branches: 2,
        ..ServerLimits::default()
    };
    let client = Client::new(Server::builder().with_limits(limits)).await;
    let mut listed = Value::Null;
    for id in ["a", "b", "a", "c"] {
        let arguments = thought(json!({"branchFromThought": 1, "branchId": id}));
        listed = client.answer(arguments).await["branches"].take();
    }
    assert_eq!(listed, json!(["b", "c"]));
}
