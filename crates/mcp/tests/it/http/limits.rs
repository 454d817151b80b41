use std::time::Duration;

use cogwork_mcp::ServerLimits;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::support::{TOKEN, connect, initialize, read, settings, start, start_with};

/// A timeout that is over soon.
const SOON: Duration = Duration::from_millis(50);

#[tokio::test]
async fn a_message_that_is_too_long_is_refused_with_its_id() {
    let limits = ServerLimits::default().with_message_bytes(1000);
    let running = start_with(settings(), limits).await;
    let text = "x".repeat(2000);
    let body =
        format!(r#"{{"jsonrpc":"2.0","method":"x","params":{{"id":1,"a":"{text}"}},"id":"z"}}"#);

    let answer = running.post(body.as_bytes()).send().await;

    assert_eq!(answer.status, 413);
    assert_eq!(answer.json()["id"], json!("z"));
    assert_eq!(
        answer.json()["error"]["message"],
        json!("the message is too long; at most 1000 bytes are accepted")
    );
}

#[tokio::test]
async fn an_endless_message_is_cut_off() {
    let limits = ServerLimits::default().with_message_bytes(1000);
    let running = start_with(settings(), limits).await;
    let body = vec![b'x'; 50_000_000];

    assert_eq!(running.post(&body).send().await.status, 413);
}

#[tokio::test]
async fn malformed_messages_are_answered() {
    let running = start().await;
    let cases: &[(&[u8], u16)] = &[
        (b"hello", 400),
        (b"", 202),
        (b"[]", 400),
        (br#"{"jsonrpc":"2.0","id":3,"method":5}"#, 400),
        (b"{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"\xFF\"}", 400),
        (&b"[".repeat(100_000), 400),
    ];

    for (body, status) in cases {
        let answer = running.post(body).send().await;
        assert_eq!(answer.status, *status, "{}", answer.body);
        if *status == 400 {
            assert!(answer.json()["error"]["message"].is_string());
        }
    }

    let body = initialize();
    assert_eq!(running.post(&body).send().await.status, 200);
}

#[tokio::test]
async fn slow_headers_end_the_connection() {
    let mut settings = settings();
    settings = settings.with_header_timeout(SOON);
    let running = start_with(settings, ServerLimits::default()).await;

    let mut stream = connect(running.address).await;
    stream
        .write_all(b"POST /mcp HTTP/1.1\r\nHo")
        .await
        .expect("written");

    let mut rest = Vec::new();
    stream.read_to_end(&mut rest).await.expect("the end");
}

#[tokio::test]
async fn a_slow_body_is_refused() {
    let settings = settings().with_body_timeout(SOON);
    let running = start_with(settings, ServerLimits::default()).await;
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {TOKEN}\r\n\
         Content-Length: 100\r\nConnection: close\r\n\r\n{{"
    );

    let mut stream = connect(running.address).await;
    stream.write_all(head.as_bytes()).await.expect("written");

    let answer = read(&mut stream).await;
    assert_eq!(answer.status, 408);
    assert!(answer.body.contains("did not arrive in time"));
}

#[tokio::test]
async fn connections_above_the_limit_wait() {
    let settings = settings().with_connections(1);
    let running = start_with(settings, ServerLimits::default()).await;

    let mut first = connect(running.address).await;
    first.write_all(b"POST").await.expect("written");
    // The first connection has been accepted when the server has read from it or waits for more.
    let body = initialize();
    let second = running.post(&body).send();
    tokio::pin!(second);
    let early = tokio::time::timeout(SOON, &mut second).await;
    assert!(early.is_err(), "the second connection was served");

    drop(first);
    assert_eq!(second.await.status, 200);
}

#[tokio::test]
async fn sessions_above_the_limit_are_refused() {
    let settings = settings().with_open_sessions(2);
    let running = start_with(settings, ServerLimits::default()).await;
    let body = initialize();

    for _ in 0..2 {
        assert_eq!(running.post(&body).send().await.status, 200);
    }
    let answer = running.post(&body).send().await;
    assert_eq!(answer.status, 503);
    assert_eq!(answer.json()["id"], json!(1));
}

#[tokio::test]
async fn stopping_ends_streams_and_connections() {
    let running = start().await;
    let body = initialize();
    let answer = running.post(&body).send().await;
    let session = answer.header("mcp-session-id").expect("a session");

    let mut stream = connect(running.address).await;
    let head = format!(
        "GET /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {TOKEN}\r\n\
         Accept: text/event-stream\r\nMcp-Session-Id: {session}\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).await.expect("written");
    let mut first = [0; 15];
    stream.read_exact(&mut first).await.expect("an answer");
    assert_eq!(&first, b"HTTP/1.1 200 OK");

    running.server.stop();
    let result = running.serving.await.expect("no panic");
    assert!(result.is_ok());
    read(&mut stream).await;
    let refused = tokio::net::TcpStream::connect(running.address).await;
    assert!(refused.is_err());
}
