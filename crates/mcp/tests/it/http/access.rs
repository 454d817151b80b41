use std::convert::Infallible;

use cogwork_mcp::{HttpSettings, Server};
use http_body_util::{BodyExt, Full};
use tower_service::Service;

use super::support::{DISCOVER, OTHER, TOKEN, discover, initialize, settings, start};

#[tokio::test]
async fn a_request_needs_a_token() {
    let running = start().await;
    let refused = [
        None,
        Some("Authorization: Bearer wrong".to_owned()),
        Some(format!("Authorization: Basic {TOKEN}")),
        Some("Authorization: Bearer".to_owned()),
        Some(format!("Authorization: Bearer {TOKEN}x")),
    ];

    for header in refused {
        let body = discover(1);
        let mut post = running.post(&body);
        post.headers.clear();
        post.headers.extend(header);
        post.headers.extend(DISCOVER.map(str::to_owned));

        let answer = post.send().await;
        assert_eq!(answer.status, 401);
        assert_eq!(answer.header("www-authenticate"), Some("Bearer"));
        let error = answer.json()["error"]["message"].to_string();
        assert!(error.contains("Authorization: Bearer TOKEN"));
    }

    let body = discover(1);
    let [version, method] = DISCOVER;
    let answer = running.post(&body).header(version).header(method).send();
    assert_eq!(answer.await.status, 200);
}

#[tokio::test]
async fn other_hosts_and_origins_are_refused() {
    let running = start().await;
    let port = running.address.port();
    let cases = [
        (format!("Host: localhost:{port}"), 200),
        (format!("Host: 127.0.0.1:{port}"), 200),
        ("Host: evil.example".to_owned(), 403),
        (format!("Origin: http://localhost:{port}"), 200),
        ("Origin: http://evil.example".to_owned(), 403),
        ("Origin: null".to_owned(), 403),
    ];

    for (header, status) in cases {
        let body = initialize();
        let answer = running.post(&body).header(&header).send().await;
        assert_eq!(answer.status, status, "{header}");
    }
}

#[tokio::test]
async fn a_session_of_another_token_is_not_found() {
    let running = start().await;
    let body = initialize();
    let answer = running.post(&body).send().await;
    let session = answer.header("mcp-session-id").expect("a session");
    let session = format!("Mcp-Session-Id: {session}");
    let list = br#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#;

    let mut other = running.post(list).header(&session);
    if let Some(first) = other.headers.first_mut() {
        *first = format!("Authorization: Bearer {OTHER}");
    }

    assert_eq!(other.send().await.status, 404);
    assert_eq!(running.post(list).header(&session).send().await.status, 200);
}

#[tokio::test]
async fn a_session_is_closed_without_content() {
    let running = start().await;
    let body = initialize();
    let answer = running.post(&body).send().await;
    let session = answer.header("mcp-session-id").expect("a session");
    let session = format!("Mcp-Session-Id: {session}");

    let closed = running.post(b"").header(&session).send_as("DELETE", "/mcp");
    let closed = closed.await;
    assert_eq!((closed.status, closed.body.as_str()), (204, ""));
    let list = br#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#;
    assert_eq!(running.post(list).header(&session).send().await.status, 404);
}

#[tokio::test]
async fn other_paths_are_not_served() {
    let running = start().await;
    let answer = running.post(b"{}").send_as("POST", "/").await;
    assert_eq!(answer.status, 404);
    assert!(answer.body.contains("expected `/mcp`"));
}

#[tokio::test]
async fn tokens_are_checked() {
    let server = Server::builder().open().expect("the server opens");
    let message = |settings| {
        let error = server.http_service(settings).expect_err("an error");
        error.to_string()
    };

    let none = HttpSettings::default();
    assert_eq!(message(none), "there is no token; expected at least one");

    let short = HttpSettings::default().with_token("short");
    assert!(message(short).contains("at least 16 characters"));

    let spaces = HttpSettings::default().with_token("a token with some spaces");
    assert!(message(spaces).contains("spaces"));

    let shown = format!("{:?}", settings());
    assert!(!shown.contains(TOKEN));
    assert_ne!(HttpSettings::random_token(), HttpSettings::random_token());
}

#[tokio::test]
async fn the_service_can_be_mounted_in_another_server() {
    let server = Server::builder().open().expect("the server opens");
    let service = server.http_service(settings()).expect("a service");
    let mut service = service.with_state(());

    let [version, method] = DISCOVER.map(|header| header.split_once(": ").expect("a header"));
    let request = http::Request::post("http://localhost/any/path")
        .header("Host", "localhost")
        .header("Authorization", format!("Bearer {TOKEN}"))
        .header("Content-Type", "application/json")
        .header("Accept", "application/json, text/event-stream")
        .header(version.0, version.1)
        .header(method.0, method.1)
        .body(Full::<bytes::Bytes>::from(discover(7)))
        .expect("a request");

    let answer: Result<_, Infallible> = service.call(request).await;
    let answer = answer.expect("an answer");
    assert_eq!(answer.status(), 200);
    let body = answer.into_body().collect().await.expect("a body");
    assert!(String::from_utf8_lossy(&body.to_bytes()).contains("supportedVersions"));
}
