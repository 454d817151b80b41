//! Clients that vanish halfway through their calls.

use serde_json::json;
use tokio::io::AsyncWriteExt;

use super::support::{database, record, server, thought};
use crate::support::client_of;

/// The requests of a client that doesn't wait for answers.
fn requests(calls: u64) -> String {
    let hello = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": { "name": "test", "version": "1" },
    });
    let hello = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello });
    let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });

    let params = json!({ "name": "sequentialthinking", "arguments": thought("a") });
    let calls = (1..=calls)
        .map(|id| json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }));
    let messages = [hello, ready].into_iter().chain(calls);
    messages.map(|message| format!("{message}\n")).collect()
}

#[tokio::test]
async fn others_go_on_with_the_session_of_a_client_that_vanished() {
    let folder = tempfile::tempdir().expect("a folder");
    let server = server(folder.path()).open().expect("a server");
    let client = client_of(&server).await;
    let mut recorded = 0;

    for calls in [1, 3, 50, 200] {
        let (mut ours, theirs) = tokio::io::duplex(1024 * 1024);
        let connection = tokio::spawn(server.serve(tokio::io::split(theirs)));
        let requests = requests(calls);
        ours.write_all(requests.as_bytes()).await.expect("written");
        drop(ours);
        // It may complain that the client is gone.
        let _ = connection.await.expect("no panic");

        let count = record(&client, "a").await.expect("a thought");
        assert!(count > recorded && count <= recorded + calls + 1, "{count}");
        recorded = count;
    }

    let entries = "SELECT count(*) = max(number) FROM entries";
    let are_complete = database(folder.path()).query_row(entries, [], |row| row.get(0));
    assert_eq!(are_complete, Ok(true));
    let again = super::support::client(folder.path()).await;
    let count = record(&again, "a").await.expect("a thought");
    assert_eq!(record(&client, "a").await, Ok(count + 1));
}
