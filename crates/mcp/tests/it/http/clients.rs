//! The client of rmcp, in all its modes.

use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use serde_json::json;

use super::support::{OTHER, Running, TOKEN, start};
use crate::support::{Client, Era};

async fn connect(running: &Running, token: &str, era: Era) -> Client {
    // The client of HTTP requires one, although these connections have no TLS.
    let _ = rustls::crypto::ring::default_provider().install_default();

    let address = format!("http://{}/mcp", running.address);
    let config = StreamableHttpClientTransportConfig::with_uri(address).auth_header(token);
    Client::over(StreamableHttpClientTransport::from_config(config), era).await
}

#[tokio::test]
async fn clients_of_both_generations_keep_their_sessions() {
    for era in Era::ALL {
        let running = start().await;
        let first = connect(&running, TOKEN, era).await;
        let other = connect(&running, OTHER, era).await;
        let tools = first.list_all_tools().await.expect("tools");
        assert!(tools.iter().any(|tool| tool.name == "sequentialthinking"));

        assert_eq!(first.count(json!({})).await, 1);
        assert_eq!(first.count(json!({})).await, 2);
        assert_eq!(other.count(json!({})).await, 1);
    }
}

#[tokio::test]
async fn two_connections_of_the_older_generation_have_sessions_of_their_own() {
    let running = start().await;
    let first = connect(&running, TOKEN, Era::Initialize).await;
    let second = connect(&running, TOKEN, Era::Initialize).await;

    assert_eq!(first.count(json!({})).await, 1);
    assert_eq!(second.count(json!({})).await, 1);
    assert_eq!(first.count(json!({})).await, 2);
}

#[tokio::test]
async fn sessions_of_another_token_cannot_be_reached() {
    let running = start().await;
    let ours = connect(&running, TOKEN, Era::Initialize).await;
    let theirs = connect(&running, OTHER, Era::Initialize).await;
    let begin = json!({"problem": "A secret.", "sessionId": "diary"});
    ours.accepted("reason", begin).await;

    for reached in [
        json!({"sessionId": "diary"}),
        json!({"sessionId": "diary", "question": "q1", "reply": "I know."}),
        json!({"sessionId": "diary", "conclude": true}),
    ] {
        let refused = theirs.refused("reason", reached).await;
        assert_eq!(refused, "there is no session `diary`");
    }
    let list = theirs.accepted("reason", json!({})).await;
    assert_eq!(list, "There are no sessions.");
    assert!(theirs.read("cogwork://sessions/diary").await.is_err());

    // The same id is another session for another owner.
    let begin = json!({"problem": "Mine.", "sessionId": "diary"});
    theirs.accepted("reason", begin).await;
    let shown = ours.accepted("reason", json!({})).await;
    assert!(shown.contains("A secret.") && !shown.contains("Mine."));
}
