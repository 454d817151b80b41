use std::process::Command;
use std::time::Duration;

use cogwork_tools::Tools;
use cogwork_tools::mcp::McpServer;
use insta::assert_snapshot;
use serde_json::json;

use crate::fixture::{call, connected, refused, registry, server};

#[tokio::test]
async fn a_server_that_ends_is_started_again_on_the_next_call() {
    let tools = registry(&connected("normal").await);
    let pid = call(&tools, "pid", json!({})).await.unwrap();

    // Another call is in flight when the server dies.
    let (slow, died) = tokio::join!(
        call(&tools, "slow", json!({})),
        call(&tools, "die", json!({}))
    );
    let told = "the tool `die` is not available: the MCP server `fixture` ended during the call";
    assert_eq!(died.unwrap_err(), told);
    let slow = slow.unwrap_err();
    assert!(slow.contains("`fixture` ended during the call"), "{slow}");

    let again = call(&tools, "pid", json!({})).await.unwrap();
    assert_ne!(again, pid);
}

#[tokio::test]
async fn a_server_with_an_old_sdk_is_started_again_with_the_old_protocol() {
    let tools = registry(&connected("old").await);

    for _ in 0..2 {
        let said = call(&tools, "echo", json!({})).await;
        assert_eq!(said.as_deref(), Ok("{}"));
        call(&tools, "die", json!({})).await.unwrap_err();
    }
}

#[tokio::test]
async fn a_server_that_cannot_be_started_is_an_error() {
    let missing = McpServer::command(&Command::new("/nonexistent/server"));
    let silent = server("silent").with_start_timeout(Duration::from_millis(300));
    let servers = [
        missing,
        server("dies"),
        server("no server"),
        server("refuses"),
        silent,
    ];
    let mut told = Vec::new();
    for server in servers {
        told.push(refused(server).await);
    }
    assert_snapshot!(told.join("\n"));
}

#[tokio::test]
async fn a_server_inherits_no_variables_with_secrets() {
    let tools = registry(&connected("normal").await);

    let env = call(&tools, "env", json!({})).await.unwrap();
    let env: Vec<(String, String)> = serde_json::from_str(&env).unwrap();
    let names: Vec<&str> = env.iter().map(|(name, _)| name.as_str()).collect();

    // Cargo sets this for the tests.
    assert!(std::env::var("CARGO_MANIFEST_DIR").is_ok());
    assert!(!names.contains(&"CARGO_MANIFEST_DIR"), "{names:?}");
    assert!(names.contains(&"PATH") && names.contains(&"FIXTURE_MODE"));
    // The fixture removes it.
    assert!(!names.contains(&"HOME"), "{names:?}");
}

/// Starts a process with a server and its child, and returns whether any of them is running.
#[cfg(unix)]
async fn with_child(tools: &Tools) -> impl Fn() -> bool + use<> {
    let pids = [
        call(tools, "pid", json!({})).await,
        call(tools, "child", json!({})).await,
    ];
    move || pids.iter().flatten().any(|pid| is_running(pid))
}

/// Whether the server ends by itself when its standard input is closed, or has to be told to.
#[cfg(unix)]
#[tokio::test]
async fn a_server_and_its_children_end_with_the_last_handle() {
    for mode in ["normal", "stays"] {
        let server = connected(mode).await;
        let tools = registry(&server);
        let is_any_running = with_child(&tools).await;
        drop(server);
        assert!(is_any_running());

        drop(tools);
        while is_any_running() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}

/// The end of a program leaves no time to wait for servers.
#[cfg(unix)]
#[test]
fn a_server_and_its_children_are_killed_with_the_runtime() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let (_tools, is_any_running) = runtime.block_on(async {
        let tools = registry(&connected("stays").await);
        let is_any_running = with_child(&tools).await;
        (tools, is_any_running)
    });

    assert!(is_any_running());
    drop(runtime);
    while is_any_running() {
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[cfg(unix)]
fn is_running(pid: &str) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/stat"));
    status.is_ok_and(|status| !status.contains(") Z "))
}
