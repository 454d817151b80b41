use std::sync::Arc;

use axum::extract::Request;
use axum::http::{StatusCode, header};
use axum::middleware::{Next, from_fn};
use axum::response::Response;
use cogwork_tools::mcp::McpServer;
use insta::assert_snapshot;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::json;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use crate::fixture::{call, refused, registry};
use crate::sdk_server::Sdk;

const TOKEN: &str = "a-token-of-twenty-two";

async fn with_token(request: Request, next: Next) -> Result<Response, StatusCode> {
    let given = request.headers().get(header::AUTHORIZATION);
    let expected = format!("Bearer {TOKEN}");
    if given.is_none_or(|given| given.as_bytes() != expected.as_bytes()) {
        return Err(StatusCode::UNAUTHORIZED);
    }
    Ok(next.run(request).await)
}

/// Starts a server that needs the token, and returns its address.
async fn serve() -> (String, JoinHandle<()>) {
    serve_at("127.0.0.1:0").await
}

async fn serve_at(address: &str) -> (String, JoinHandle<()>) {
    let sdk = Sdk::default();
    let service = StreamableHttpService::new(
        move || Ok(sdk.clone()),
        Arc::new(LocalSessionManager::default()),
        StreamableHttpServerConfig::default(),
    );
    let router = axum::Router::new()
        .nest_service("/mcp", service)
        .layer(from_fn(with_token));

    let listener = TcpListener::bind(address).await.unwrap();
    let address = listener.local_addr().unwrap();
    let serving = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    (format!("http://{address}/mcp"), serving)
}

#[tokio::test]
async fn tools_are_called_over_http_with_a_token() {
    let (url, _serving) = serve().await;
    let server = McpServer::http(&url).with_token(TOKEN);
    let tools = registry(&server.connect().await.unwrap());
    let said = call(&tools, "say", json!({"text": "hello"})).await;
    assert_eq!(said.as_deref(), Ok("hello"));
}

#[tokio::test]
async fn a_wrong_token_is_an_error_that_does_not_show_it() {
    let (url, _serving) = serve().await;

    for server in [
        McpServer::http(&url),
        McpServer::http(&url).with_token("another-token"),
    ] {
        assert!(!format!("{server:?}").contains("another"));
        let told = "the MCP server `127.0.0.1` can't be reached: unexpected server response: HTTP 401 Unauthorized: ";
        assert_eq!(refused(server).await, told);
    }
}

#[tokio::test]
async fn a_token_that_a_server_repeats_is_not_shown() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let router = axum::Router::new().fallback(async |request: Request| {
        let given = &request.headers()[header::AUTHORIZATION];
        (StatusCode::BAD_REQUEST, given.to_str().unwrap().to_owned())
    });
    let _serving = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });

    let error = refused(McpServer::http(url).with_token(TOKEN)).await;
    let is_hidden = error.contains("[token]") && !error.contains(TOKEN);
    assert!(is_hidden, "{error}");
}

#[tokio::test]
async fn a_server_that_is_gone_is_an_error_until_it_is_back() {
    let (url, serving) = serve().await;
    let server = McpServer::http(&url).with_token(TOKEN);
    let tools = registry(&server.clone().connect().await.unwrap());

    serving.abort();
    serving.await.unwrap_err();
    let error = call(&tools, "say", json!({})).await.unwrap_err();
    let told = "the tool `say` is not available: the MCP server `127.0.0.1` can't be reached during the call: ";
    assert!(error.starts_with(told), "{error}");
    let error = refused(server).await;
    assert!(error.contains("can't be reached: "), "{error}");

    let address = url.strip_prefix("http://").unwrap();
    let address = address.strip_suffix("/mcp").unwrap();
    let _serving = serve_at(address).await;
    let said = call(&tools, "say", json!({"text": "back"})).await;
    assert_eq!(said.as_deref(), Ok("back"));
}

#[tokio::test]
async fn an_unusable_address_is_an_error() {
    let mut told = Vec::new();
    for url in [
        "example.com/mcp",
        "ftp://example.com",
        "http://user:word@example.com",
    ] {
        told.push(refused(McpServer::http(url)).await);
    }
    assert_snapshot!(told.join("\n"), @"
    the MCP server `http` has an unusable address: it cannot be parsed: relative URL without a base; expected one like https://example.com/mcp
    the MCP server `example.com` has an unusable address: it is not an HTTP URL; expected one that begins with http:// or https://
    the MCP server `example.com` has an unusable address: it contains credentials; pass them as the API key or in a header
    ");
}
