use cogwork_mcp::ServerLimits;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::support::{TOKEN, connect, read, start, start_with};
use crate::support::initialize;

#[tokio::test]
async fn a_message_that_is_too_long_is_refused() {
    let limits = ServerLimits {
        message_bytes: 1000,
        ..ServerLimits::default()
    };
    let running = start_with(limits).await;

    let answer = running.post(&"x".repeat(50_000_000)).send().await;
    assert_eq!(answer.status, 413);
    let body = answer.body;
    assert!(body.contains("exceeds 1000 bytes"), "{body}");
}

#[tokio::test]
async fn sessions_above_the_limit_are_refused() {
    let running = start().await;
    let body = initialize().to_string();
    for _ in 0..256 {
        assert_eq!(running.post(&body).send().await.status, 200);
    }
    let answer = running.post(&body).send().await;
    assert_eq!(answer.status, 503);
    assert!(answer.body.contains("at most 256"), "{}", answer.body);
}

#[tokio::test]
async fn stopping_ends_streams_and_connections() {
    let running = start().await;
    let session = running.session().await;
    let mut stream = connect(running.address).await;
    let head = format!(
        "GET /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {TOKEN}\r\n\
         Accept: text/event-stream\r\n{session}\r\n\r\n"
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
