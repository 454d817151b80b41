//! A server in a process of its own.

#[path = "../../../text/tests/support/fresh.rs"]
mod fresh;

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::LazyLock;

use fresh::is_fresh;
use serde_json::{Value, json};

use crate::support::initialize;

/// The path of the example `stdio`, which is built if `cargo test` has not built it.
static PROGRAM: LazyLock<PathBuf> = LazyLock::new(|| {
    let test = std::env::current_exe().expect("a test knows its program");
    let folder = test.ancestors().nth(2).expect("a test is in `deps`");
    let program = folder
        .join("examples/stdio")
        .with_extension(std::env::consts::EXE_EXTENSION);
    if is_fresh(&program) {
        return program;
    }

    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["build", "--quiet", "--package", "cogwork-mcp"])
        .args(["--example", "stdio", "--message-format", "json"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{output:?}");

    let messages = String::from_utf8(output.stdout).expect("text");
    let messages = messages.lines().map(serde_json::from_str);
    let messages = messages.map(|message: Result<Value, _>| message.expect("JSON"));
    let mut programs = messages.filter_map(|message| Some(message["executable"].as_str()?.into()));
    programs.next().expect("the path of the program")
});

/// Returns the command that starts a server with sessions in this folder.
pub(crate) fn server(folder: &Path) -> Command {
    let mut command = Command::new(&*PROGRAM);
    command.arg("--data").arg(folder);
    command
}

/// A server that a test talks to line by line. It is killed when this is dropped.
pub(crate) struct Process {
    pub(crate) child: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Process {
    /// Starts the server and says hello.
    pub(crate) fn start(mut command: Command) -> Self {
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("the server starts");
        let requests = child.stdin.take().expect("an input");
        let answers = BufReader::new(child.stdout.take().expect("an output"));
        let mut process = Self {
            child,
            requests,
            answers,
        };

        process.write(&initialize());
        process.receive().expect("an answer");
        let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        process.write(&initialized);
        process
    }

    /// Sends a call of a tool.
    pub(crate) fn send(&mut self, id: u64, tool: &str, arguments: &Value) {
        let params = json!({ "name": tool, "arguments": arguments });
        let method = "tools/call";
        self.write(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
    }

    /// Calls a tool, and returns the result.
    pub(crate) fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        self.send(1, tool, arguments);
        self.receive().expect("an answer")["result"].take()
    }

    fn write(&mut self, message: &Value) {
        // The server may have been killed.
        let _ = writeln!(self.requests, "{message}");
    }

    /// Returns the next message, or `None` if the server has ended.
    pub(crate) fn receive(&mut self) -> Option<Value> {
        let mut line = String::new();
        self.answers.read_line(&mut line).expect("text");
        // A line that was cut off wasn't answered.
        let line = line.strip_suffix('\n')?;
        Some(serde_json::from_str(line).expect("JSON"))
    }
}
