//! What a client cannot do to the studio.

use std::time::Duration;

use serde_json::json;
use tokio::net::TcpStream;

use super::client::{Served, events_of};
use super::runs::{happened, paused};

const JSON: &str = "Content-Type: application/json\r\n";

#[tokio::test]
async fn bodies_have_a_limit_and_a_type() {
    let studio = Served::empty().await;

    let long = json!({"flow": "x".repeat(1 << 20)}).to_string();
    let refused = studio.post_text("/api/runs", JSON, &long).await;
    assert_eq!(refused.status, 413, "{refused:?}");

    for kind in [
        "",
        "Content-Type: text/plain\r\n",
        "Content-Type: application/x-www-form-urlencoded\r\n",
    ] {
        let refused = studio.post_text("/api/runs", kind, "{}").await;
        assert_eq!(refused.status, 415, "{kind}");
    }

    for body in [
        "",
        "{",
        "[]",
        "\0",
        "{\"flow\":1}",
        "{\"flow\":\"a\",\"more\":1}",
    ] {
        let refused = studio.post_text("/api/runs", JSON, body).await;
        assert_eq!(refused.status, 400, "{body}");
    }

    let deep = "[".repeat(900);
    assert_eq!(studio.post_text("/api/runs", JSON, &deep).await.status, 400);
    let chunked = "Transfer-Encoding: chunked\r\nContent-Type: application/json\r\n";
    let request = format!(
        "POST /api/runs HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nAuthorization: Bearer {}\r\n{chunked}\r\n100001\r\n{}\r\n0\r\n\r\n",
        studio.host,
        studio.token,
        " ".repeat((1 << 20) + 1)
    );
    assert_eq!(studio.send(&request).await.status, 413);
}

#[tokio::test]
async fn other_methods_and_paths_are_refused() {
    let studio = Served::empty().await;
    for (method, path) in [
        ("PUT", "/api/runs"),
        ("DELETE", "/api/run"),
        ("POST", "/api/flows"),
        ("POST", "/assets/studio.js"),
    ] {
        let request = studio.request(path, "").replacen("GET", method, 1);
        let refused = studio.send(&request).await;
        assert_eq!(refused.status, 405, "{method} {path}");
        assert!(refused.header("allow").is_some(), "{refused:?}");
        assert_eq!(
            refused.error(),
            "this path has other methods; expected one of the header `Allow`"
        );
    }
    for path in [
        "/../../etc/passwd",
        "/assets/../Cargo.toml",
        "/assets/",
        "/api",
    ] {
        assert_eq!(studio.get(path).await.status, 404, "{path}");
    }
}

#[tokio::test]
async fn strangers_who_send_nothing_delay_nobody() {
    let studio = Served::empty().await;
    let mut idle = Vec::new();
    for _ in 0..100 {
        idle.push(TcpStream::connect(&studio.host).await.unwrap());
    }

    let answer = studio.get("/api/runs");
    let answer = tokio::time::timeout(Duration::from_secs(5), answer).await;
    assert_eq!(answer.unwrap().status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn viewers_who_never_read_delay_nobody() {
    let (folder, _) = paused().await;
    let text = "x".repeat(1 << 20);
    let note = format!("{{\"at\":9.0,\"type\":\"noted\",\"text\":\"{text}\"}}\n");
    let events = format!("{}\n{}", happened("a").join("\n"), note.repeat(20));
    std::fs::write(events_of(folder.path(), "a"), events).unwrap();

    let studio = Served::over(folder.path()).await;
    let mut viewers = Vec::new();
    for _ in 0..20 {
        viewers.push(studio.watch("/api/run/events?id=a", "").await);
    }

    let answer = tokio::time::timeout(Duration::from_secs(10), studio.get("/api/run?id=a")).await;
    assert_eq!(answer.unwrap().status, 200);
}
