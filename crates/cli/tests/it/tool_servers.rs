//! Files that name servers of tools. The server is a script for the shell, which answers in the
//! order in which the command asks.

#![expect(
    clippy::unwrap_used,
    reason = "the helpers of tests may, as the tests do"
)]

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

const SERVER: &str = r#"#!/bin/sh
echo started >>started
id() { sed 's/.*"id":\([0-9]*\).*/\1/'; }
while read -r line; do
  n=$(echo "$line" | id)
  case $line in
    *'"server/discover"'*) echo '{"jsonrpc":"2.0","id":'$n',"error":{"code":-32601,"message":"no"}}' ;;
    *'"initialize"'*) echo '{"jsonrpc":"2.0","id":'$n',"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}' ;;
    *'"tools/list"'*) echo '{"jsonrpc":"2.0","id":'$n',"result":{"tools":[{"name":"look","description":"Looks.","inputSchema":{"type":"object"}}]}}' ;;
    *'"tools/call"'*) echo '{"jsonrpc":"2.0","id":'$n',"result":{"content":[{"type":"text","text":"a ship"}]}}' ;;
  esac
done
echo ended >>started
"#;

const FLOW: &str = "\
tools: {mcp: [{name: eyes, command: ./server, tools: [look]}]}
nodes:
  - id: agent
    type: agent
    config:
      provider: scripted
      replies: [{tool_calls: [{name: look, arguments: {}}]}, I see a ship.]
      tools: [look]
";

fn cogwork(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_cogwork"))
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap()
}

fn folder(flow: &str) -> tempfile::TempDir {
    use std::os::unix::fs::PermissionsExt;

    let folder = tempfile::tempdir().unwrap();
    let server = folder.path().join("server");
    fs::write(&server, SERVER).unwrap();
    fs::set_permissions(&server, fs::Permissions::from_mode(0o755)).unwrap();
    fs::write(folder.path().join("flow.yaml"), flow).unwrap();
    folder
}

#[test]
fn a_run_starts_the_servers_of_its_file_and_a_check_does_not() {
    let folder = folder(FLOW);
    let started = folder.path().join("started");

    for command in [vec!["check", "flow.yaml"], vec!["draw", "flow.yaml"]] {
        assert!(cogwork(folder.path(), &command).status.success());
    }
    assert!(!started.exists());

    let run = ["run", "flow.yaml", "--input", "What is there?", "--json"];
    let ended = cogwork(folder.path(), &run);
    assert!(ended.status.success(), "{ended:?}");
    let result: serde_json::Value = serde_json::from_slice(&ended.stdout).unwrap();
    assert_eq!(result["answer"], "I see a ship.");
    let tools = &result["state"]["outputs"]["agent"]["tools"];
    assert_eq!(tools[0]["result"], "a ship");
    assert!(started.exists());
}

#[test]
fn a_server_that_cannot_be_started_ends_the_run_before_it_begins() {
    let folder = folder(&FLOW.replace("tools: [look]}", "tools: [look, listen]}"));

    let run = ["run", "flow.yaml", "--input", "?", "--journal", "runs"];
    let failed = cogwork(folder.path(), &run);
    assert_eq!(failed.status.code(), Some(3));
    assert_eq!(
        String::from_utf8(failed.stderr).unwrap(),
        "cogwork: the MCP server `eyes` has no tool `listen`; expected one of the tools it has\n"
    );
    assert!(!folder.path().join("runs").exists());
}
