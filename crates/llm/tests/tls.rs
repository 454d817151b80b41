//! Encryption is what the features say: with either of the two it is there, with `http` alone it is not.
#![cfg(feature = "http")]
// Clippy knows tests by their attribute, and so takes the helpers of a test for library code.
#![allow(clippy::unwrap_used)]

use cogwork_llm::{ChatRequest, LlmClient, LlmErrorKind, OpenAiClient};
use tokio::io::AsyncReadExt;
use tokio::net::TcpListener;

/// The first two bytes of a request to a server at a URL of this scheme.
async fn first_bytes(scheme: &str) -> [u8; 2] {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base_url = format!("{scheme}://{}/v1", listener.local_addr().unwrap());
    let server = tokio::spawn(async move {
        let mut bytes = [0; 2];
        let (mut stream, _) = listener.accept().await.unwrap();
        stream.read_exact(&mut bytes).await.unwrap();
        bytes
    });

    let client = OpenAiClient::builder(base_url, "m").build().unwrap();
    let error = client.complete(ChatRequest::default()).await.unwrap_err();
    assert_eq!(error.kind(), LlmErrorKind::Transport, "{error}");

    server.await.unwrap()
}

#[tokio::test]
async fn http_is_sent_as_it_is() {
    assert_eq!(first_bytes("http").await, *b"PO");
}

#[cfg(any(feature = "rustls", feature = "native-tls"))]
#[tokio::test]
async fn https_begins_with_a_handshake() {
    assert_eq!(first_bytes("https").await, [0x16, 0x03]);
}

#[cfg(not(any(feature = "rustls", feature = "native-tls")))]
#[test]
fn https_is_refused_before_anything_is_sent() {
    let client = OpenAiClient::builder("https://api.openai.com/v1", "m");
    let error = client.build().unwrap_err();
    assert_eq!(error.kind(), LlmErrorKind::Settings);
    assert_eq!(
        error.to_string(),
        "settings: the base URL \"https://api.openai.com/v1\" needs TLS, which this program was built without; \
         use http://, or enable the feature rustls or native-tls of cogwork-llm"
    );
}
