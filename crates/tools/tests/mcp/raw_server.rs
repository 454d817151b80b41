//! A server that is written by hand, so that it can do what no SDK would. It speaks the old
//! generation of the protocol.
//!
//! What it does is chosen by the variable `FIXTURE_MODE`, and by the tools that are called.

use std::env::var;
use std::io::{BufRead, Write, stdin, stdout};
use std::process::exit;

use serde_json::{Value, json};

/// The variable with the mode.
pub(crate) const MODE: &str = "FIXTURE_MODE";

/// The variable with the tools that are offered, unless they are the usual ones.
pub(crate) const TOOLS: &str = "FIXTURE_TOOLS";

struct Server {
    mode: String,
    tools: Value,
    cancelled: u32,
}

/// Answers requests until standard input is closed.
pub(crate) fn serve(mode: String) -> ! {
    match mode.as_str() {
        "dies" => exit(7),
        "silent" => loop {
            std::thread::park();
        },
        "no server" => {
            println!(r#"{{"hello": "world"}}"#);
            exit(0);
        }
        _ => {}
    }

    let mut server = Server {
        tools: tools(&mode),
        mode,
        cancelled: 0,
    };
    for line in stdin().lock().lines().map_while(Result::ok) {
        if let Ok(message) = serde_json::from_str(&line) {
            server.take(&message);
        }
    }

    if server.mode == "stays" {
        loop {
            std::thread::park();
        }
    }
    exit(0);
}

fn tools(mode: &str) -> Value {
    if let Ok(tools) = var(TOOLS) {
        return serde_json::from_str(&tools).unwrap_or_default();
    }

    let names = "echo reply die slow cancelled fail huge env pid child";
    let of = |name: &str| json!({"name": name, "description": format!("Does {name}."), "inputSchema": {"type": "object"}});

    match mode {
        "many tools" => (0..300).map(|n| of(&format!("t{n}"))).collect(),
        _ => names.split(' ').map(of).collect(),
    }
}

impl Server {
    fn take(&mut self, message: &Value) {
        let id = &message["id"];
        let params = &message["params"];

        match message["method"].as_str().unwrap_or_default() {
            "server/discover" if self.mode == "old" => exit(3),
            "initialize" if self.mode == "refuses" => {
                let key = var("KEY").unwrap_or_default();
                error(id, -32000, &format!("not today{key}"));
            }
            "initialize" => {
                let info = json!({"name": "raw", "version": "1"});
                result(
                    id,
                    &json!({"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": info}),
                );
            }
            "tools/list" => self.list(id),
            "tools/call" => self.call(id, &params["name"], &params["arguments"]),
            "notifications/cancelled" => self.cancelled += 1,
            _ if id.is_null() => {}
            _ => error(id, -32601, "Method not found"),
        }
    }

    fn list(&self, id: &Value) {
        match self.mode.as_str() {
            "endless" => result(id, &json!({"tools": [], "nextCursor": "more"})),
            "no list" => result(id, &json!({"tools": "none"})),
            _ => result(id, &json!({"tools": self.tools})),
        }
    }

    fn call(&mut self, id: &Value, name: &Value, arguments: &Value) {
        if self.mode == "garbage" {
            println!("hello\n\n{{}}\n[1, 2\n\u{7f}\u{1b}[2J");
        }

        match name.as_str().unwrap_or_default() {
            "echo" => text(id, &arguments.to_string()),
            "reply" => result(id, &arguments["reply"]),
            "die" => exit(7),
            "slow" => {}
            "cancelled" => text(id, &self.cancelled.to_string()),
            "fail" => {
                let code = arguments["code"].as_i64().unwrap_or(-32000);
                error(id, code, arguments["message"].as_str().unwrap_or("no"));
            }
            "huge" => {
                let bytes = arguments["bytes"].as_u64().unwrap_or_default();
                text(id, &"x".repeat(bytes as usize));
            }
            "env" => text(id, &json!(std::env::vars().collect::<Vec<_>>()).to_string()),
            "pid" => text(id, &std::process::id().to_string()),
            "child" => text(id, &child()),
            _ => error(id, -32602, "Unknown tool"),
        }
    }
}

/// Starts a process that does not end by itself, and returns its id.
fn child() -> String {
    let child = std::process::Command::new("sleep").arg("600").spawn();
    child.map_or_else(|_| String::new(), |child| child.id().to_string())
}

fn text(id: &Value, text: &str) {
    result(id, &json!({"content": [{"type": "text", "text": text}]}));
}

fn result(id: &Value, result: &Value) {
    write_line(&json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string());
}

fn error(id: &Value, code: i64, message: &str) {
    let error = json!({"code": code, "message": message});
    write_line(&json!({"jsonrpc": "2.0", "id": id, "error": error}).to_string());
}

fn write_line(line: &str) {
    let mut out = stdout().lock();
    let written = writeln!(out, "{line}").and_then(|()| out.flush());
    if written.is_err() {
        exit(0);
    }
}
