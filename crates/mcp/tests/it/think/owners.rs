//! Sessions of clients with different tokens.

use std::net::SocketAddr;

use cogwork_mcp::HttpSettings;
use rmcp::ServiceExt;
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use serde_json::json;
use tokio::net::TcpListener;

use super::{builder, refused, session, think};
use crate::support::Client;

const OURS: &str = "the-token-of-the-first-client";
const THEIRS: &str = "the-token-of-another-client";

async fn start() -> SocketAddr {
    let server = builder().open().expect("the server opens");
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");

    let settings = HttpSettings::default().with_token(OURS).with_token(THEIRS);
    tokio::spawn(server.serve_http(listener, settings));
    address
}

async fn client(address: SocketAddr, token: &str) -> Client {
    let uri = format!("http://{address}/mcp");
    let config = StreamableHttpClientTransportConfig::with_uri(uri).auth_header(token);
    // The client of HTTP requires one, although these connections have no TLS.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let transport = StreamableHttpClientTransport::from_config(config);
    ().serve(transport).await.expect("the server answers")
}

#[tokio::test]
async fn sessions_of_another_owner_cannot_be_reached() {
    let address = start().await;
    let ours = client(address, OURS).await;
    let theirs = client(address, THEIRS).await;
    let begin = json!({"strategy": "linear", "sessionId": "diary", "thought": "A secret."});
    think(&ours, begin).await;

    let reached = [
        ("think", json!({"thought": "I know."})),
        ("think_session", json!({"operation": "show"})),
        ("think_session", json!({"operation": "undo"})),
        ("think_session", json!({"operation": "remove"})),
    ];
    for (tool, mut arguments) in reached {
        arguments["sessionId"] = json!("diary");
        let line = refused(&theirs, tool, arguments).await;
        assert_eq!(line, "there is no session `diary`");
    }
    let list = session(&theirs, json!({"operation": "list"})).await;
    assert_eq!(list, "There are no sessions.");

    // The same id is another session for another owner.
    let begin = json!({"strategy": "react", "sessionId": "diary", "thought": "Mine."});
    assert!(
        think(&theirs, begin)
            .await
            .starts_with("Thought 1 is recorded.")
    );
    let shown = session(&ours, json!({"operation": "show"})).await;
    assert!(
        shown.contains("A secret.") && !shown.contains("Mine."),
        "{shown}"
    );
}
