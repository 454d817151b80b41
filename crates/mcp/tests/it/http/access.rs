use std::convert::Infallible;

use cogwork_mcp::{HttpSettings, Server};
use http_body_util::{BodyExt, Full};
use tower_service::Service;

use super::support::{DISCOVER, OTHER, TOKEN, settings, start};
use crate::support::{discover, initialize};

const LIST: &str = r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#;

#[tokio::test]
async fn a_request_needs_a_token() {
    let running = start().await;
    let body = discover().to_string();
    let [version, method] = DISCOVER;
    for who in [
        None,
        Some("Bearer wrong".to_owned()),
        Some(format!("Basic {TOKEN}")),
        Some("Bearer".to_owned()),
        Some(format!("Bearer {TOKEN}x")),
    ] {
        let post = running.post_as(who, &body).header(version).header(method);
        let answer = post.send().await;
        assert_eq!(answer.status, 401);
        assert_eq!(answer.header("www-authenticate"), Some("Bearer"));
        let error = answer.json()["error"]["message"].to_string();
        assert!(error.contains("Authorization: Bearer TOKEN"));
    }

    let post = running.post(&body).header(version).header(method);
    assert_eq!(post.send().await.status, 200);
}

#[tokio::test]
async fn other_hosts_and_origins_are_refused() {
    let running = start().await;
    let port = running.address.port();
    let body = initialize().to_string();
    for (header, status) in [
        (format!("Host: localhost:{port}"), 200),
        (format!("Host: 127.0.0.1:{port}"), 200),
        ("Host: evil.example".to_owned(), 403),
        (format!("Origin: http://localhost:{port}"), 200),
        ("Origin: http://evil.example".to_owned(), 403),
        ("Origin: null".to_owned(), 403),
    ] {
        let answer = running.post(&body).header(&header).send().await;
        assert_eq!(answer.status, status, "{header}");
    }
}

#[tokio::test]
async fn a_session_is_only_for_its_token_and_until_it_is_closed() {
    let running = start().await;
    let session = running.session().await;
    let list = || running.post(LIST).header(&session);
    let other = running.post_as(Some(format!("Bearer {OTHER}")), LIST);
    assert_eq!(other.header(&session).send().await.status, 404);
    assert_eq!(list().send().await.status, 200);

    let close = running.post("").header(&session);
    let closed = close.send_as("DELETE", "/mcp").await;
    assert_eq!((closed.status, closed.body.as_str()), (204, ""));
    assert_eq!(list().send().await.status, 404);
}

#[tokio::test]
async fn other_paths_are_not_served() {
    let running = start().await;
    let answer = running.post("{}").send_as("POST", "/").await;
    assert_eq!(answer.status, 404);
    assert!(answer.body.contains("expected `/mcp`"));
}

#[test]
fn tokens_are_checked_and_not_shown() {
    let server = Server::builder().open().expect("the server opens");
    let error = server.http_service(HttpSettings::default());
    let error = error.expect_err("no token").to_string();
    assert_eq!(error, "there is no token; expected at least one");

    for (token, expected) in [
        ("short", "at least 16 characters"),
        ("a token with some spaces", "visible ones of ASCII"),
    ] {
        let error = HttpSettings::default().with_token(token);
        let error = error.expect_err("an error").to_string();
        assert!(error.contains(expected), "{error}");
    }

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
        .body(Full::<bytes::Bytes>::from(discover().to_string()))
        .expect("a request");

    let answer: Result<_, Infallible> = service.call(request).await;
    let answer = answer.expect("an answer");
    assert_eq!(answer.status(), 200);
    let body = answer.into_body().collect().await.expect("a body");
    assert!(String::from_utf8_lossy(&body.to_bytes()).contains("supportedVersions"));
}
