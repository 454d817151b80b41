//! The official servers from npm, whose folder is in `MCP_SERVERS`:
//!
//! ```sh
//! MCP_SERVERS=$(scripts/node-packages mcp-servers) \
//!   cargo test -p cogwork-tools --features mcp-http --test mcp -- --ignored official
//! ```

use std::process::Command;
use std::time::Duration;

use cogwork_tools::mcp::McpServer;
use serde_json::json;

use crate::fixture::{call, registry};

/// Returns a server of the packages, which isn't started.
fn server(name: &str, argument: &str) -> McpServer {
    let folder = std::env::var("MCP_SERVERS").unwrap();
    let script = format!("{folder}/node_modules/@modelcontextprotocol/{name}/dist/index.js");
    McpServer::command(Command::new("node").args([script.as_str(), argument])).with_name(name)
}

#[tokio::test]
#[ignore = "needs Node.js and packages from npm"]
async fn official_filesystem() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path().canonicalize().unwrap();
    let place = |name: &str| folder.join(name).display().to_string();

    let server = server("server-filesystem", &place(""));
    let tools = registry(&server.connect().await.unwrap());

    let written = json!({"path": place("a.txt"), "content": "one\ntwo"});
    call(&tools, "write_file", written).await.unwrap();
    assert_eq!(std::fs::read_to_string(place("a.txt")).unwrap(), "one\ntwo");

    let read = call(&tools, "read_text_file", json!({"path": place("a.txt")})).await;
    assert!(read.unwrap().starts_with("one\ntwo"));
    let listed = call(&tools, "list_directory", json!({"path": place("")})).await;
    assert!(listed.unwrap().contains("[FILE] a.txt"));

    let outside = call(&tools, "read_text_file", json!({"path": "/etc/hostname"})).await;
    let outside = outside.unwrap_err();
    assert!(
        outside.starts_with("the tool `read_text_file` failed: "),
        "{outside}"
    );
    let wrong = call(&tools, "read_text_file", json!({"file": 1}))
        .await
        .unwrap_err();
    assert!(wrong.contains("path"), "{wrong}");
}

#[tokio::test]
#[ignore = "needs Node.js and packages from npm"]
async fn official_everything() {
    let server = server("server-everything", "stdio").with_timeout(Duration::from_secs(2));
    let tools = registry(&server.connect().await.unwrap());

    let said = call(&tools, "echo", json!({"message": "hello"}))
        .await
        .unwrap();
    assert_eq!(said, "Echo: hello");
    let sum = call(&tools, "get-sum", json!({"a": 2, "b": 3}))
        .await
        .unwrap();
    assert!(sum.contains('5'), "{sum}");
    let image = call(&tools, "get-tiny-image", json!({})).await.unwrap();
    assert!(image.contains("[image image/png]"), "{image}");
    let links = call(&tools, "get-resource-links", json!({})).await.unwrap();
    assert!(links.contains("[resource_link "), "{links}");
    let env = call(&tools, "get-env", json!({})).await.unwrap();
    assert!(env.contains("PATH") && !env.contains("CARGO_"), "{env}");

    let structured = json!({"location": "New York"});
    let weather = call(&tools, "get-structured-content", structured)
        .await
        .unwrap();
    assert_eq!(weather.matches("temperature").count(), 1, "{weather}");

    let long = json!({"duration": 60, "steps": 2});
    let late = call(&tools, "trigger-long-running-operation", long)
        .await
        .unwrap_err();
    assert!(late.ends_with("took longer than 2s"), "{late}");
    call(&tools, "echo", json!({"message": "again"}))
        .await
        .unwrap();
}
