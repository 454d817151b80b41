//! Connections that break, stall, lie or never end.

use std::error::Error;
use std::time::{Duration, Instant};

use cogwork_llm::{LlmError, LlmErrorKind as Kind, OpenAiClient};
use tokio::net::TcpListener;

use crate::http::support::{Answer, Server, ask, bytes, outcome};

/// Long enough for a loaded machine to answer, short enough to wait for.
const SHORT: Duration = Duration::from_millis(300);

/// Where a client of this server sends, as errors name it.
fn address(server: &Server) -> String {
    format!("POST {}/chat/completions", server.base_url())
}

/// The address, and the error that one answer of it makes.
async fn failure(answer: Answer) -> (String, LlmError) {
    let server = Server::start([answer]).await;
    (address(&server), ask(&server.client()).await.unwrap_err())
}

#[tokio::test]
async fn a_closed_port_is_a_transport_error() {
    let address = TcpListener::bind("127.0.0.1:0")
        .await
        .unwrap()
        .local_addr()
        .unwrap();

    let client = OpenAiClient::builder(format!("http://{address}"), "m")
        .build()
        .unwrap();
    let error = ask(&client).await.unwrap_err();
    assert_eq!(error.kind(), Kind::Transport);
    assert!(error.is_retryable());

    let text = error.to_string();
    let start = format!(
        "transport: POST http://{address}/chat/completions: no connection: Connection refused"
    );
    assert!(text.starts_with(&start), "{text}");
    assert!(error.source().is_some());
}

#[tokio::test]
async fn a_connection_closed_without_an_answer_is_a_transport_error() {
    let (address, error) = failure(Answer::Raw(Vec::new())).await;
    assert_eq!(
        error.to_string(),
        format!(
            "transport: {address}: the connection was lost: connection closed before message completed"
        )
    );
}

#[tokio::test]
async fn an_answer_that_is_not_http_is_a_transport_error() {
    let (address, error) = failure(Answer::Raw(b"SSH-2.0-OpenSSH_9.9\r\n\r\n".to_vec())).await;
    assert_eq!(
        error.to_string(),
        format!("transport: {address}: the connection was lost: invalid HTTP version parsed")
    );
}

#[tokio::test]
async fn a_reset_is_a_transport_error_before_the_answer_and_within_it() {
    let error = outcome(Answer::Reset(Vec::new())).await.unwrap_err();
    assert_eq!(error.kind(), Kind::Transport);
    assert_eq!(error.status(), None);

    let error = outcome(Answer::Reset(bytes(200, "", "{\"choices\"", 100)))
        .await
        .unwrap_err();
    assert_eq!(error.kind(), Kind::Transport);
    assert_eq!(
        (error.status(), error.body()),
        (Some(200), Some("{\"choices\""))
    );
}

#[tokio::test]
async fn half_a_body_is_a_transport_error_with_what_came() {
    let (address, error) = failure(Answer::Raw(bytes(200, "", "{\"choices\": [", 100))).await;
    assert!(error.is_retryable());
    assert_eq!(
        format!("{error:#}"),
        format!(
            "transport: {address}: the connection was lost: end of file before message length reached (status 200)\n\
             {{\"choices\": ["
        )
    );
}

#[tokio::test]
async fn half_a_body_of_a_failure_leaves_the_failure() {
    let error = outcome(Answer::Raw(bytes(503, "retry-after: 3\r\n", "too bu", 100)))
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "overloaded: too bu (status 503, retry after 3s)"
    );
}

#[tokio::test]
async fn a_slow_answer_is_a_timeout() {
    let server = Server::start([Answer::Late(Duration::from_secs(30), Vec::new())]).await;
    let client = OpenAiClient::builder(server.base_url(), "m")
        .with_timeout(SHORT)
        .build()
        .unwrap();
    let error = ask(&client).await.unwrap_err();
    assert_eq!(error.kind(), Kind::Timeout);
    assert_eq!(
        error.to_string(),
        format!(
            "timeout: {}: no complete response within 300ms",
            address(&server)
        )
    );

    assert!(error.is_retryable());
}

#[tokio::test]
async fn an_answer_that_stalls_half_way_is_a_timeout_with_what_came() {
    let server = Server::start([Answer::Stall(bytes(200, "", "{\"choices\"", 100))]).await;
    let client = OpenAiClient::builder(server.base_url(), "m")
        .with_timeout(SHORT)
        .build()
        .unwrap();
    let error = ask(&client).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        format!(
            "timeout: {}: no complete response within 300ms (status 200)",
            address(&server)
        )
    );

    assert_eq!(error.body(), Some("{\"choices\""));
}

#[tokio::test]
async fn a_server_silent_at_the_handshake_is_a_connection_timeout() {
    // Accepts in the kernel's queue and never says a word.
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://{}", listener.local_addr().unwrap());
    let client = OpenAiClient::builder(&url, "m")
        .with_connect_timeout(SHORT)
        .build()
        .unwrap();
    let error = ask(&client).await.unwrap_err();

    assert_eq!(error.kind(), Kind::Timeout);
    assert_eq!(
        error.to_string(),
        format!("timeout: POST {url}/chat/completions: no connection within 300ms")
    );
}

#[tokio::test]
async fn a_server_without_encryption_is_a_transport_error_for_https() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://{}", listener.local_addr().unwrap());
    let server = tokio::spawn(async move {
        use tokio::io::AsyncWriteExt;
        let (mut stream, _) = listener.accept().await.unwrap();
        stream
            .write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            .await
            .unwrap();
    });

    let client = OpenAiClient::builder(&url, "m").build().unwrap();
    let error = ask(&client).await.unwrap_err();
    server.await.unwrap();
    assert_eq!(error.kind(), Kind::Transport);

    let text = error.to_string();
    let start =
        format!("transport: POST {url}/chat/completions: no connection: received corrupt message");
    assert!(text.starts_with(&start), "{text}");
}

#[tokio::test]
async fn a_body_without_end_stops_at_the_limit() {
    let server = Server::start([Answer::Endless("{\"choices\": [\"", "x".to_owned())]).await;
    let client = OpenAiClient::builder(server.base_url(), "m")
        .with_max_response_bytes(1_000_000)
        .build()
        .unwrap();
    let started = Instant::now();
    let error = ask(&client).await.unwrap_err();

    assert!(started.elapsed() < Duration::from_secs(30));
    assert_eq!(error.kind(), Kind::Decode);
    assert_eq!(
        error.to_string(),
        "decode: the response is over the limit of 1000000 bytes (status 200)"
    );
    assert_eq!(error.body().unwrap().chars().count(), 500);
}

#[tokio::test]
async fn a_body_of_exactly_the_limit_is_read_and_one_byte_more_is_not() {
    let body = r#"{"choices":[{"message":{"content":"a"}}]}"#;
    let server = Server::start([
        crate::http::support::ok(body),
        crate::http::support::ok(body),
    ])
    .await;
    let with_limit = |bytes| {
        OpenAiClient::builder(server.base_url(), "m")
            .with_max_response_bytes(bytes)
            .build()
            .unwrap()
    };

    assert_eq!(ask(&with_limit(body.len())).await.unwrap().text(), "a");
    assert_eq!(
        ask(&with_limit(body.len() - 1)).await.unwrap_err().kind(),
        Kind::Decode
    );
}

#[tokio::test]
async fn a_failure_without_end_is_still_a_failure() {
    let mut raw = b"HTTP/1.1 500 X\r\nconnection: close\r\n\r\n".to_vec();
    raw.extend(std::iter::repeat_n(b'y', 10_000_000));
    let error = outcome(Answer::Raw(raw)).await.unwrap_err();
    assert_eq!((error.kind(), error.status()), (Kind::Server, Some(500)));
}

#[tokio::test]
async fn a_call_dropped_half_way_leaves_the_client_ready() {
    let server =
        Server::start([Answer::Stall(Vec::new()), crate::http::support::says("Hi.")]).await;
    let client = server.client();
    assert!(
        tokio::time::timeout(Duration::from_millis(50), ask(&client))
            .await
            .is_err()
    );

    assert_eq!(ask(&client).await.unwrap().text(), "Hi.");
}
