//! Sessions in memory.

use cogwork_mcp::{Server, ServerLimits};
use serde_json::{Value, json};

use super::support::{record, thought};
use crate::host::{Era, Host};
use crate::support::{Client, call, connect};

async fn with_bytes(bytes: usize) -> Client {
    let limits = ServerLimits::default().with_database_bytes(bytes);
    connect(Server::builder().with_limits(limits)).await
}

/// Records thoughts until there is no more room. Returns their number.
async fn filled(client: &Client, session: &str) -> u64 {
    let mut count = 0;
    loop {
        match record(client, session).await {
            Ok(number) => count = number,
            Err(error) => {
                let expected = "the memory for sessions is full: at most 100000 bytes are kept; \
                    remove old sessions";
                assert_eq!(error, expected);
                return count;
            }
        }
    }
}

async fn remove(client: &Client, session: &str) {
    let remove = json!({"operation": "remove", "sessionId": session});
    let removed = call(client, "think_session", remove).await;
    assert_eq!(removed.is_error, Some(false), "{removed:?}");
}

#[tokio::test]
async fn full_memory_is_an_error_and_nothing_is_counted() {
    let client = with_bytes(100_000).await;
    record(&client, "b").await.expect("a thought");
    let count = filled(&client, "a").await;
    assert!(count > 100, "{count}");

    // Neither is another session begun.
    record(&client, "c").await.expect_err("no room");
    remove(&client, "b").await;
    assert_eq!(record(&client, "a").await, Ok(count + 1));
}

#[tokio::test]
async fn a_removed_session_leaves_all_its_room() {
    let client = with_bytes(100_000).await;
    let count = filled(&client, "a").await;

    for _ in 0..3 {
        remove(&client, "a").await;
        assert_eq!(filled(&client, "a").await, count);
    }
}

#[tokio::test]
async fn dropped_thoughts_leave_their_room() {
    let limits = ServerLimits::default()
        .with_database_bytes(100_000)
        .with_thoughts(50);
    let client = connect(Server::builder().with_limits(limits)).await;

    for number in 1..=2_000 {
        assert_eq!(record(&client, "a").await, Ok(number));
    }
}

#[tokio::test]
async fn dropped_thoughts_are_not_shown() {
    let limits = ServerLimits::default().with_thoughts(1_000);
    let server = Server::builder().with_limits(limits);
    let server = server.open().expect("it opens");
    let host = Host::connect(&server, Era::Initialize).await;

    for number in 1..=1_015 {
        let mut arguments = thought("a");
        arguments["thoughtNumber"] = json!(number);
        let request = crate::host::call("sequentialthinking", arguments);
        host.client.call_tool(request).await.expect("a result");
    }

    let uri = "cogwork://sessions/a/json";
    let request = rmcp::model::ReadResourceRequestParams::new(uri);
    let shown = host
        .client
        .read_resource(request)
        .await
        .expect("a resource");
    let shown = serde_json::to_value(shown.contents).expect("JSON");
    let shown = shown[0]["text"].as_str().expect("a text");
    let shown: Value = serde_json::from_str(shown).expect("JSON");
    let entries = shown["entries"].as_array().expect("entries");
    assert_eq!(entries.len(), 995);
    assert_eq!(entries[0]["thoughtNumber"], 21);
}

#[tokio::test]
async fn sessions_end_with_the_server() {
    let client = connect(Server::builder()).await;
    assert_eq!(record(&client, "a").await, Ok(1));

    let client = connect(Server::builder()).await;
    assert_eq!(record(&client, "a").await, Ok(1));
}
