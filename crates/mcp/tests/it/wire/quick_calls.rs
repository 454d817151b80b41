//! Calls that are answered without the loop of rmcp.

use std::path::Path;

use cogwork_mcp::{Server, ServerLimits};
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;

use super::support::{Connection, initialize, list};

fn call(id: impl Into<Value>) -> Value {
    let id: Value = id.into();
    let arguments = json!({
        "thought": "a",
        "thoughtNumber": 1,
        "totalThoughts": 1,
        "nextThoughtNeeded": true,
    });
    let params = json!({"name": "sequentialthinking", "arguments": arguments});
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
}

/// Returns a call of the newer generation.
fn newer(id: u64) -> Value {
    let mut call = call(id);
    call["params"]["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    call
}

/// Returns the number of thoughts that a call has recorded.
fn thoughts(answer: &Value) -> &Value {
    &answer["result"]["structuredContent"]["thoughtHistoryLength"]
}

/// Locks the database of a server as another process does.
fn locked(folder: &Path) -> rusqlite::Connection {
    let other = rusqlite::Connection::open(folder.join("sessions.sqlite")).expect("a database");
    other.execute_batch("BEGIN IMMEDIATE").expect("a lock");
    other
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn calls_are_carried_out_in_order() {
    let folder = tempfile::tempdir().expect("a folder");
    for builder in [
        Server::builder(),
        Server::builder().with_data(folder.path()),
    ] {
        let mut connection = Connection::to(builder).await;
        for id in 1..=200 {
            connection.send(&call(id)).await;
        }

        for _ in 1..=200 {
            let answer = connection.receive().await.expect("an answer");
            assert_eq!(thoughts(&answer), &answer["id"]);
        }
    }
}

#[tokio::test]
async fn servers_that_get_many_calls_for_a_session_lose_nothing() {
    const CALLS: usize = 60;

    let folder = tempfile::tempdir().expect("a folder");
    let mut connections = Vec::new();
    for _ in 0..2 {
        connections.push(Connection::to(Server::builder().with_data(folder.path())).await);
    }
    for id in 1..=CALLS {
        for connection in &mut connections {
            let mut call = call(id);
            call["params"]["arguments"]["sessionId"] = json!("shared");
            connection.send(&call).await;
        }
    }

    let mut counts = Vec::new();
    for connection in &mut connections {
        for _ in 1..=CALLS {
            let answer = connection.receive().await.expect("an answer");
            match thoughts(&answer).as_u64() {
                Some(count) => counts.push(count),
                // A server that is overtaken too often refuses a call.
                None => assert!(answer.to_string().contains("too many others"), "{answer}"),
            }
        }
    }

    counts.sort_unstable();
    let expected: Vec<u64> = (1..).take(counts.len()).collect();
    assert_eq!(counts, expected);
    assert!(!counts.is_empty());
}

#[tokio::test]
async fn one_call_at_a_time_is_enough() {
    let limits = ServerLimits::default()
        .with_concurrent_requests(1)
        .with_waiting_requests(1);
    let mut connection = Connection::open(limits).await;

    for id in 1..=10 {
        connection.send(&call(id)).await;
    }
    for id in 1..=10 {
        let answer = connection.receive().await.expect("an answer");
        assert_eq!(answer["id"], json!(id));
    }
}

#[tokio::test]
async fn a_cancelled_call_is_not_answered_and_its_id_can_be_used_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut connection = Connection::to(Server::builder().with_data(folder.path())).await;
    connection.send(&call("first")).await;
    connection.receive().await.expect("an answer");

    let lock = locked(folder.path());
    let params = json!({"requestId": "again"});
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params});
    connection.send(&call("again")).await;
    connection.send(&cancel).await;
    connection.send(&call("again")).await;
    connection.send(&call("last")).await;

    // All of them have been read when this is answered.
    connection.send(&list("list")).await;
    let answer = connection.receive().await.expect("an answer");
    assert_eq!(answer["id"], "list");
    drop(lock);

    for (id, count) in [("again", 3), ("last", 4)] {
        let answer = connection.receive().await.expect("an answer");
        assert_eq!(answer["id"], json!(id));
        assert_eq!(thoughts(&answer), &json!(count), "{answer}");
    }
}

#[tokio::test]
async fn calls_are_answered_after_the_end_of_the_input() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut connection = Connection::to(Server::builder().with_data(folder.path())).await;
    connection.send(&call(1)).await;
    connection.receive().await.expect("an answer");

    let lock = locked(folder.path());
    for id in 2..=20 {
        connection.send(&call(id)).await;
    }
    connection.writer.shutdown().await.expect("the end");
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    drop(lock);

    for id in 2..=20 {
        let answer = connection.receive().await.expect("an answer");
        assert_eq!(answer["id"], json!(id));
    }
    assert!(connection.receive().await.is_none());
    assert!(connection.serving.await.is_ok());
}

#[tokio::test]
async fn calls_before_the_handshake_are_refused() {
    let mut connection = Connection::without_handshake(Server::builder());
    connection.send(&call(1)).await;
    let refused = connection.receive().await.expect("an answer");
    assert!(refused["error"].is_object(), "{refused}");

    connection.send(&initialize()).await;
    connection.receive().await.expect("an answer");
    connection.send(&call(1)).await;
    let answer = connection.receive().await.expect("an answer");
    assert_eq!(thoughts(&answer), &json!(1));
}

#[tokio::test]
async fn the_newer_generation_gets_its_results_and_errors() {
    let mut connection = Connection::without_handshake(Server::builder());
    // The first one opens the session, so it is answered by rmcp.
    for id in 1..=3 {
        connection.send(&newer(id)).await;
        let answer = connection.receive().await.expect("an answer");
        assert_eq!(answer["result"]["resultType"], json!("complete"));
        assert_eq!(thoughts(&answer), &json!(id));
    }

    connection.send(&call(4)).await;
    let refused = connection.receive().await.expect("an answer");
    let error = refused["error"]["message"].as_str().expect("an error");
    assert!(error.contains("_meta"), "{error}");
}

#[tokio::test]
async fn a_version_that_does_not_exist_is_refused() {
    let mut connection = Connection::open(ServerLimits::default()).await;
    let mut call = call(1);
    let version = "io.modelcontextprotocol/protocolVersion";
    call["params"]["_meta"] = json!({version: "1999-01-01"});

    connection.send(&call).await;
    let refused = connection.receive().await.expect("an answer");
    assert!(refused["error"]["data"].is_object(), "{refused}");
}
