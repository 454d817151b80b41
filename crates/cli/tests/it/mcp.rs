//! The command `mcp`: the real program, over its standard input and output.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{ChildStderr, Command, Stdio};

use serde_json::{Value, json};

use crate::support::{Place, Running, Told, ask};

fn server(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cogwork"));
    command
        .arg("mcp")
        .args(arguments)
        .env_remove("OPENAI_MODEL")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// Sends messages to a server that keeps nothing. Returns the messages that it prints, with any other output
/// failing, and what it writes beside them.
fn talk(arguments: &[&str], messages: &[Value]) -> (Vec<Value>, String) {
    let arguments = [&["--memory"], arguments].concat();
    let mut child = server(&arguments).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let text = lines(messages);
    // In a thread of its own, because the server stops reading when its answers aren't read.
    std::thread::spawn(move || stdin.write_all(&text));

    let told = Told::of(child.wait_with_output().unwrap());
    assert_eq!(told.code, 0, "{told:?}");
    let printed = told.out.lines().map(serde_json::from_str::<Value>);
    (printed.collect::<Result<_, _>>().unwrap(), told.err)
}

fn call(tool: &str, input: &Value) -> Value {
    let params = json!({"name": tool, "arguments": input});
    json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
}

/// Calls a tool of a server that keeps nothing, and returns the answer.
fn answer_of(arguments: &[&str], tool: &str, input: &Value) -> Value {
    let (messages, _) = talk(arguments, &[initialize(), call(tool, input)]);
    let mut messages = messages.into_iter();
    messages.find(|message| message["id"] == 1).unwrap()
}

fn lines(messages: &[Value]) -> Vec<u8> {
    let lines = messages.iter().map(|message| format!("{message}\n"));
    lines.collect::<String>().into_bytes()
}

fn initialize() -> Value {
    let client = json!({"name": "test", "version": "1"});
    let params = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client});
    json!({"jsonrpc": "2.0", "id": "start", "method": "initialize", "params": params})
}

#[test]
fn requests_are_answered_until_the_end_of_the_input() {
    assert_eq!(talk(&[], &[]), (Vec::new(), String::new()));

    let list = |id: u32| json!({"jsonrpc": "2.0", "id": id, "method": "tools/list"});
    let tools = ["--tools", "think,think_session"];
    let (messages, err) = talk(&tools, &[initialize(), list(1), list(2)]);
    assert_eq!((messages.len(), err.as_str()), (3, ""));
    for answer in messages.iter().filter(|message| message["id"] != "start") {
        let tools = answer["result"]["tools"].as_array().unwrap();
        let names: Vec<_> = tools.iter().map(|tool| &tool["name"]).collect();
        assert_eq!(names, ["think", "think_session"]);
    }
}

#[cfg(unix)]
#[test]
fn signals_stop_the_server_cleanly() {
    for signal in ["TERM", "INT"] {
        let mut child = server(&["--memory"]).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(&lines(&[initialize()])).unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        stdout.read_line(&mut String::new()).unwrap();

        crate::command::send(signal, child.id());
        assert_eq!(child.wait().unwrap().code(), Some(0), "{signal}");
        let mut rest = String::new();
        stdout.read_to_string(&mut rest).unwrap();
        assert_eq!(rest, "", "{signal}");
        drop(stdin);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn sessions_are_kept_among_the_data_of_the_user() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name);
    let home: &[_] = &[("HOME", "home")];
    let xdg: &[_] = &[("XDG_DATA_HOME", "xdg")];
    let unused: &[_] = &[("XDG_DATA_HOME", "unused")];

    for (variables, data, expected) in [
        (home, None, "home/.local/share/cogwork"),
        (xdg, None, "xdg/cogwork"),
        (unused, Some("argument"), "argument"),
    ] {
        let mut command = server(&[]);
        command.env_remove("XDG_DATA_HOME");
        command.envs(variables.iter().map(|(name, folder)| (name, place(folder))));
        if let Some(data) = data {
            command.arg("--data").arg(place(data));
        }
        let output = command.stdin(Stdio::null()).output().unwrap();
        assert_eq!(output.status.code(), Some(0));
        let file = place(expected).join("sessions.sqlite");
        assert!(file.is_file(), "{expected}");
    }
    assert!(!place("unused").exists());
}

struct HttpServer {
    _process: Running,
    host: String,
    told: BufReader<ChildStderr>,
}

impl HttpServer {
    fn start(command: &mut Command) -> Self {
        let mut process = command.spawn().unwrap();
        let mut told = BufReader::new(process.stderr.take().unwrap());
        let mut line = String::new();
        told.read_line(&mut line).unwrap();

        let host = line.trim_end().strip_prefix("cogwork: serving http://");
        let host = host.unwrap().strip_suffix("/mcp").unwrap().to_owned();
        Self {
            _process: Running(process),
            host,
            told,
        }
    }

    /// Returns the status of the answer to a request with a token.
    fn status(&self, token: &str) -> String {
        ask(&self.host, token, "POST /mcp", &initialize().to_string()).0
    }
}

#[test]
fn a_token_is_printed_if_none_is_given() {
    let mut command = server(&["--memory", "--http", "127.0.0.1:0"]);
    let mut server = HttpServer::start(command.env_remove("COGWORK_TOKEN"));
    assert!(server.host.starts_with("127.0.0.1:"));

    let mut line = String::new();
    server.told.read_line(&mut line).unwrap();
    let (_, token) = line
        .trim_end()
        .split_once("the token of this run is ")
        .unwrap();
    assert_eq!(server.status(token), "200");
    assert_eq!(server.status("another-token-of-some-length"), "401");
}

#[test]
fn tokens_come_from_the_environment() {
    let mut command = server(&["--memory", "--http", "127.0.0.1:0"]);
    let tokens = "first-token-of-variable\nsecond-token-of-variable";
    command.env("COGWORK_TOKEN", tokens);
    let from_variable = HttpServer::start(&mut command);
    for token in ["first-token-of-variable", "second-token-of-variable"] {
        assert_eq!(from_variable.status(token), "200");
    }
}

#[test]
fn errors_of_the_settings_are_told() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = format!("--memory --http {}", taken.local_addr().unwrap());
    let place = Place::new();
    place.write("file", "");
    let file = format!("--data {}", place.path("file").display());

    for (arguments, code, part) in [
        ("--http nowhere", 2, "invalid socket address"),
        ("--allow-host x", 2, "--http"),
        (&taken, 4, "is not available"),
        ("--memory --data x", 2, "cannot be used with"),
        (&file, 4, "cogwork: "),
        (
            "--memory --tools thinking",
            4,
            "there is no built-in tool `thinking`; expected",
        ),
    ] {
        let arguments: Vec<_> = arguments.split(' ').collect();
        let mut command = server(&arguments);
        command.env("COGWORK_TOKEN", "a-token-that-is-long");
        let told = Told::of(command.output().unwrap());
        told.fails(code, part);
        assert!(!told.err.contains("serving"), "{told:?}");
    }

    let mut command = server(&["--memory", "--http", "127.0.0.1:0"]);
    let told = Told::of(command.env("COGWORK_TOKEN", "short").output().unwrap());
    told.fails(
        4,
        "cogwork: COGWORK_TOKEN: token 1: the token is too short; expected",
    );
}

#[test]
fn solve_uses_the_flow_of_a_file() {
    let place = Place::with_flow(
        "nodes: [{id: greet, type: agent, config: {provider: scripted, replies: [Hello.]}}]",
    );
    let file = place.path("flow.yaml").display().to_string();
    let answer = answer_of(&["--flow", &file], "solve", &json!({"problem": "Ada"}));
    let text = answer["result"]["content"][0]["text"].as_str().unwrap();
    assert!(text.starts_with("Hello.\n\n(answered, "), "{text}");

    place.write("flow.yaml", "nodes: [{id: go, type: wait}]");
    let told = "cogwork: --flow: the flow waits for answers to `go`, which can't be given here\n";
    place.line("mcp --memory --flow flow.yaml").fails(4, told);

    place.write("flow.yaml", "nodes: 5");
    place
        .line("mcp --memory --flow flow.yaml")
        .fails(1, "flow.yaml:1:8: nodes: ");
}

#[test]
fn strategies_come_from_a_file() {
    let place = Place::new();
    let table = "
two_looks:
  description: Look twice.
  stages:
    problem: {description: The problem., prompt: State the problem., next: [answer]}
    answer: {description: The answer., prompt: Look again and answer., final: true}
";
    place.write("strategies.yaml", table);

    let file = place.path("strategies.yaml").display().to_string();
    let arguments = ["--tools", "think", "--strategies", &file];
    let thought =
        json!({"strategy": "two_looks", "stage": "problem", "thought": "How long is the coast?"});
    let answer = answer_of(&arguments, "think", &thought).to_string();
    assert!(answer.contains("Look again and answer."), "{answer}");

    place.write("strategies.yaml", "two_looks: {}");
    let refused = place.cogwork(&[&["mcp", "--memory"], &arguments[..]].concat());
    refused.fails(4, "strategies.yaml");
}
