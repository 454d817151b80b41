//! Starts this program as a server.

use std::env::{current_exe, var};
use std::process::Command;

use cogwork_tools::Tools;
use cogwork_tools::mcp::{McpServer, McpTools};
use serde_json::Value;

use crate::raw_server::{MODE, TOOLS};
use crate::{raw_server, sdk_server};

/// Not a test: the servers of the others, which are started with `FIXTURE_MODE`.
#[test]
fn serve() {
    match var(MODE) {
        Err(_) => {}
        Ok(mode) if mode == "sdk" => sdk_server::serve_stdio(),
        Ok(mode) => raw_server::serve(mode),
    }
}

/// Returns the server with a mode, which isn't started yet.
pub(crate) fn server(mode: &str) -> McpServer {
    McpServer::command(&command(mode)).with_name("fixture")
}

/// Returns a server that offers these tools.
pub(crate) fn offering(tools: &Value) -> McpServer {
    let mut command = command("normal");
    command.env(TOOLS, tools.to_string());
    McpServer::command(&command).with_name("fixture")
}

fn command(mode: &str) -> Command {
    let mut command = Command::new(current_exe().unwrap());
    command.args(["--exact", "fixture::serve", "--nocapture"]);
    command.env(MODE, mode).env_remove("HOME");
    command
}

pub(crate) async fn connected(mode: &str) -> McpTools {
    server(mode).connect().await.unwrap()
}

pub(crate) fn registry(tools: &McpTools) -> Tools {
    Tools::new().with_all(tools.tools()).unwrap()
}

/// Calls a tool, and returns its result or the text of the error.
pub(crate) async fn call(tools: &Tools, name: &str, input: Value) -> Result<String, String> {
    let called = tools.call_with(name, None, input).await;
    called.map_err(|error| error.to_string())
}

/// Returns why a server can't be connected.
pub(crate) async fn refused(server: McpServer) -> String {
    server.connect().await.unwrap_err().to_string()
}
