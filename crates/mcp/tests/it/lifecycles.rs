//! Both generations of the protocol over lines: what is on the wire, and the client of rmcp.

use cogwork_mcp::Server;
use rmcp::model::ProtocolVersion;
use rmcp::service::{ClientLifecycleMode, ClientServiceExt};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};

/// Sends messages to a new server, and returns all answers.
pub(crate) async fn talk(messages: &[Value]) -> Vec<Value> {
    let server = Server::builder().open().expect("the server opens");
    let (ours, theirs) = tokio::io::duplex(64 * 1024);
    let serving = tokio::spawn(server.serve(tokio::io::split(theirs)));
    let (reader, mut writer) = tokio::io::split(ours);

    for message in messages {
        let line = format!("{message}\n");
        writer.write_all(line.as_bytes()).await.expect("written");
    }
    writer.shutdown().await.expect("the end");

    let mut answers = Vec::new();
    let mut lines = BufReader::new(reader).lines();
    while let Some(line) = lines.next_line().await.expect("a line") {
        answers.push(serde_json::from_str(&line).expect("JSON"));
    }
    assert!(serving.await.expect("no panic").is_ok());
    answers
}

fn initialize(version: &str) -> Value {
    json!({
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": version,
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        },
    })
}

/// Returns a request of the newer generation.
fn request(id: u64, method: &str, version: &str) -> Value {
    json!({
        "jsonrpc": "2.0",
        "id": id,
        "method": method,
        "params": {"_meta": {
            "io.modelcontextprotocol/protocolVersion": version,
            "io.modelcontextprotocol/clientCapabilities": {},
        }},
    })
}

/// Returns the messages as lines of a snapshot, without the texts that other tests cover.
fn shown(messages: Vec<Value>) -> String {
    assert!(!messages.is_empty());
    let mut text = String::new();
    for mut message in messages {
        if let Some(version) = message.pointer_mut("/result/serverInfo/version") {
            *version = json!("…");
        }
        text += &format!("{message:#}\n");
    }
    text.replace(env!("CARGO_PKG_VERSION"), "…")
}

#[tokio::test]
async fn the_answer_to_initialize() {
    insta::assert_snapshot!(shown(talk(&[initialize("2025-11-25")]).await));
}

#[tokio::test]
async fn the_answer_to_discover() {
    let discover = request(1, "server/discover", "2026-07-28");
    insta::assert_snapshot!(shown(talk(&[discover]).await));
}

#[tokio::test]
async fn the_client_of_the_sdk_connects_in_every_mode() {
    let newest = vec![ProtocolVersion::V_2026_07_28];
    let modes = [
        ClientLifecycleMode::Initialize,
        ClientLifecycleMode::Discover {
            preferred_versions: newest.clone(),
        },
        ClientLifecycleMode::Auto {
            preferred_versions: newest,
            legacy_version: None,
        },
    ];

    for mode in modes {
        let server = Server::builder().open().expect("the server opens");
        let (ours, theirs) = tokio::io::duplex(64 * 1024);
        tokio::spawn(server.serve(tokio::io::split(theirs)));

        let client = ().serve_with_lifecycle(tokio::io::split(ours), mode).await;
        let client = client.expect("the server answers");
        assert!(client.list_all_tools().await.is_ok());
    }
}
