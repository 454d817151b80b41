//! The client of rmcp, in all its modes.

use rmcp::model::{ProtocolVersion, ReadResourceRequestParams};
use rmcp::service::{ClientLifecycleMode, ClientServiceExt};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use serde_json::{Value, json};

use super::support::{OTHER, Running, TOKEN, start};
use crate::support::{Client, call, text};

async fn connect(running: &Running, token: &str, mode: ClientLifecycleMode) -> Client {
    // The client of HTTP requires one, although these connections have no TLS.
    let _ = rustls::crypto::ring::default_provider().install_default();

    let address = format!("http://{}/mcp", running.address);
    let config = StreamableHttpClientTransportConfig::with_uri(address).auth_header(token);
    let transport = StreamableHttpClientTransport::from_config(config);
    let client = ().serve_with_lifecycle(transport, mode).await;
    client.expect("the server answers")
}

/// Adds a thought, and returns how many thoughts the session has.
async fn think(client: &Client, number: u64) -> Value {
    let thought = json!({
        "thought": format!("thought {number}"),
        "thoughtNumber": number,
        "totalThoughts": 3,
        "nextThoughtNeeded": true,
    });
    let result = call(client, "sequentialthinking", thought).await;
    let result = result.structured_content.expect("structured content");
    result["thoughtHistoryLength"].clone()
}

#[tokio::test]
async fn clients_of_both_generations_keep_their_sessions() {
    for mode in [
        ClientLifecycleMode::Initialize,
        ClientLifecycleMode::Discover {
            preferred_versions: vec![ProtocolVersion::V_2026_07_28],
        },
        ClientLifecycleMode::Auto {
            preferred_versions: vec![ProtocolVersion::V_2026_07_28],
            legacy_version: None,
        },
    ] {
        let running = start().await;
        let first = connect(&running, TOKEN, mode.clone()).await;
        let other = connect(&running, OTHER, mode).await;
        let tools = first.list_all_tools().await.expect("tools");
        assert!(tools.iter().any(|tool| tool.name == "sequentialthinking"));

        assert_eq!(think(&first, 1).await, json!(1));
        assert_eq!(think(&first, 2).await, json!(2));
        assert_eq!(think(&other, 1).await, json!(1));
    }
}

#[tokio::test]
async fn two_connections_of_the_older_generation_have_sessions_of_their_own() {
    let running = start().await;
    let first = connect(&running, TOKEN, ClientLifecycleMode::Initialize).await;
    let second = connect(&running, TOKEN, ClientLifecycleMode::Initialize).await;

    assert_eq!(think(&first, 1).await, json!(1));
    assert_eq!(think(&second, 1).await, json!(1));
    assert_eq!(think(&first, 2).await, json!(2));
}

#[tokio::test]
async fn sessions_of_another_token_cannot_be_reached() {
    let running = start().await;
    let ours = connect(&running, TOKEN, ClientLifecycleMode::Initialize).await;
    let theirs = connect(&running, OTHER, ClientLifecycleMode::Initialize).await;
    let begin = json!({"problem": "A secret.", "sessionId": "diary"});
    call(&ours, "reason", begin).await;

    for reached in [
        json!({"sessionId": "diary"}),
        json!({"sessionId": "diary", "reply": "I know."}),
        json!({"sessionId": "diary", "conclude": true}),
    ] {
        let result = call(&theirs, "reason", reached).await;
        assert_eq!(text(&result), "there is no session `diary`");
    }
    let list = call(&theirs, "reason", json!({})).await;
    assert_eq!(text(&list), "There are no sessions.");
    let resource = ReadResourceRequestParams::new("cogwork://sessions/diary");
    assert!(theirs.read_resource(resource).await.is_err());

    // The same id is another session for another owner.
    let begin = json!({"problem": "Mine.", "sessionId": "diary"});
    call(&theirs, "reason", begin).await;
    let shown = call(&ours, "reason", json!({})).await;
    assert!(text(&shown).contains("A secret.") && !text(&shown).contains("Mine."));
}
