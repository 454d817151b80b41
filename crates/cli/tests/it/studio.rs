//! The command `studio`, over a real process.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

const FLOW: &str = "
name: review
nodes:
  - id: writer
    type: agent
    config: {provider: rules, rules: [], else: A draft., prompt: '{input}'}
  - id: review
    type: wait
    config: {reason: 'Publish this? {writer}', actions: [yes, no]}
edges:
  - {from: writer, to: review}
  - {from: review, action: yes, to: end}
  - {from: review, action: no, to: writer}
";

/// A studio, which is ended when it is dropped.
struct Studio {
    process: Child,
    host: String,
    token: String,
}

impl Drop for Studio {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Studio {
    fn start(store: &Path, flow: &Path) -> Self {
        let mut process = Command::new(env!("CARGO_BIN_EXE_cogwork"))
            .args(["studio", "--journal"])
            .arg(store)
            .arg("--flow")
            .arg(flow)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();

        let mut line = String::new();
        let output = process.stdout.take().unwrap();
        BufReader::new(output).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("http://").unwrap();
        let (host, token) = address.split_once("/?token=").unwrap();
        Self {
            process,
            host: host.to_owned(),
            token: token.to_owned(),
        }
    }

    fn call(&self, method: &str, path: &str, body: &str) -> Value {
        let Self { host, token, .. } = self;
        let length = body.len();
        let mut stream = TcpStream::connect(host).unwrap();
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nAuthorization: Bearer {token}\r\n\
             Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
        )
        .unwrap();

        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (_, body) = answer.split_once("\r\n\r\n").unwrap();
        serde_json::from_str(body).unwrap()
    }

    /// Waits until a run has a status.
    fn until(&self, run: &str, status: &str) -> Value {
        for _ in 0..200 {
            let found = self.call("GET", &format!("/api/run?id={run}"), "");
            if found["run"]["status"] == status {
                return found;
            }
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        self.call("GET", &format!("/api/run?id={run}"), "")
    }
}

impl Studio {
    /// Returns what a run cost, once its events are written.
    fn totals(&self, run: &str) -> Value {
        for _ in 0..200 {
            let listed = self.call("GET", "/api/runs", "");
            let runs = listed["runs"].as_array().unwrap().iter();
            let mut found = runs.filter(|listed| listed["id"] == run);
            let totals = &found.next().unwrap()["totals"];
            if totals["calls"].as_u64().unwrap_or(0) > 0 {
                return totals.clone();
            }
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        Value::Null
    }
}

fn a_flow_is_started_answered_and_ends(store: &Path, folder: &Path) {
    let flow = folder.join("review.yaml");
    std::fs::write(&flow, FLOW).unwrap();
    let studio = Studio::start(store, &flow);
    assert_eq!(
        studio.call("GET", "/api/flows", ""),
        json!({"flows": ["review"]})
    );

    let body = json!({"flow": "review", "input": "A tale"}).to_string();
    let started = studio.call("POST", "/api/runs", &body);
    let run = started["run"].as_str().unwrap();

    let paused = studio.until(run, "paused");
    let wait = &paused["run"]["waits"][0];
    assert_eq!(wait["why"], "Publish this? A draft.", "{paused}");
    let schema: Value = serde_json::from_str(wait["schema"].as_str().unwrap()).unwrap();
    let form = &schema["anyOf"][0];
    assert_eq!(form["properties"]["action"]["enum"], json!(["yes", "no"]));

    let body = json!({"id": run, "step": wait["step"], "event": wait["event"], "answer": {"action": "yes"}});
    let delivered = studio.call("POST", "/api/run/answers", &body.to_string());
    assert_eq!(delivered["resumed"], true, "{delivered}");

    studio.until(run, "ended");

    // A fork at the wait has the draft, and asks again.
    let body = json!({"id": run, "at": 2}).to_string();
    let forked = studio.call("POST", "/api/run/forks", &body);
    let fork = forked["run"].as_str().unwrap().replace(' ', "+");
    let paused = studio.until(&fork, "paused");
    assert_eq!(
        paused["run"]["waits"][0]["why"], "Publish this? A draft.",
        "{paused}"
    );

    assert_eq!(paused["run"]["forked_from"], json!({"run": run, "step": 2}));

    // The events have the call of the draft.
    let totals = studio.totals(run);
    assert_eq!(totals["calls"], 1, "{totals}");

    let body = json!({"id": run, "at": 99}).to_string();
    let refused = studio.call("POST", "/api/run/forks", &body);
    assert!(refused["error"].is_string(), "{refused}");
}

#[test]
fn a_fork_uses_the_file_as_it_is_then() {
    let folder = tempfile::tempdir().unwrap();
    let flow = folder.path().join("review.yaml");
    let store = folder.path().join("runs");
    std::fs::write(&flow, FLOW).unwrap();
    let studio = Studio::start(&store, &flow);
    let body = json!({"flow": "review", "input": "A tale"}).to_string();
    let started = studio.call("POST", "/api/runs", &body);
    let run = started["run"].as_str().unwrap();
    studio.until(run, "paused");

    let fork = |at: u64| {
        let body = json!({"id": run, "at": at}).to_string();
        studio.call("POST", "/api/run/forks", &body)
    };
    let why = |forked: &Value| {
        let fork = forked["run"].as_str().unwrap().replace(' ', "+");
        studio.until(&fork, "paused")["run"]["waits"][0]["why"].clone()
    };

    // An edited prompt or, here, setting.
    std::fs::write(&flow, FLOW.replace("A draft.", "A new draft.")).unwrap();
    assert_eq!(why(&fork(1)), "Publish this? A new draft.");

    std::fs::write(&flow, "name: review\nnodes: 5").unwrap();
    let refused = fork(1);
    let error = refused["error"].as_str().unwrap();
    assert!(error.contains("review.yaml:2:8"), "{refused}");

    std::fs::write(&flow, FLOW).unwrap();
    let body = json!({"id": run, "at": 1, "model": "large"}).to_string();
    let refused = studio.call("POST", "/api/run/forks", &body);
    assert!(refused["error"].is_string(), "{refused}");
}

#[test]
fn a_flow_runs_in_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("runs");
    a_flow_is_started_answered_and_ends(&store, folder.path());
}

#[test]
fn a_flow_runs_in_a_database() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("runs.db");
    a_flow_is_started_answered_and_ends(&store, folder.path());
}

#[test]
fn two_flows_with_one_name_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let flow = folder.path().join("review.yaml");
    std::fs::write(&flow, FLOW).unwrap();

    let output = Command::new(env!("CARGO_BIN_EXE_cogwork"))
        .args(["studio", "--journal"])
        .arg(folder.path())
        .args([
            "--flow".as_ref(),
            flow.as_os_str(),
            "--flow".as_ref(),
            flow.as_os_str(),
        ])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(4));
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(message.contains("expected different names"), "{message}");
}
