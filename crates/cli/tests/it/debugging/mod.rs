//! Runs that are recorded, resumed and answered.

#![cfg(unix)]
#![expect(
    clippy::unwrap_used,
    reason = "the helpers of tests may, as the tests do"
)]

mod answers;
mod events;
mod resuming;
mod secrets;
mod streams;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

use crate::server::Server;

const APPROVAL: &str = "
answer: '{writer}'
nodes:
  - {id: writer, type: agent, config: {provider: rules, rules: [{when: shorter, reply: Sea.}], else: The sea., prompt: '{input} {editor}'}}
  - {id: editor, type: wait, config: {event: approval, reason: 'Publish this? {writer}', actions: [yes, no]}}
edges:
  - {from: writer, to: editor}
  - {from: editor, action: yes, to: end}
  - {from: editor, action: no, to: writer}
";

/// A folder with the file `flow.yaml`, in which the command runs.
struct Place(tempfile::TempDir);

/// What the command wrote, and its exit code.
struct Told {
    code: i32,
    out: String,
    err: String,
}

impl Place {
    fn new(flow: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("flow.yaml"), flow).unwrap();
        Self(folder)
    }

    /// The file with the events of the only run in the folder `runs`.
    fn events(&self) -> PathBuf {
        let files = fs::read_dir(self.path("runs")).unwrap();
        let paths = files.map(|entry| entry.unwrap().path());
        let mut events = paths.filter(|path| path.extension().is_some_and(|end| end == "events"));
        let only = events.next().unwrap();
        assert_eq!(events.next(), None);
        only
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cogwork"));
        command
            .args(["run", "flow.yaml"])
            .args(arguments)
            .current_dir(self.0.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    fn run(&self, arguments: &[&str]) -> Told {
        told(self.command(arguments).output().unwrap())
    }
}

fn told(output: Output) -> Told {
    Told {
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

fn two_nodes(server: &Server) -> Place {
    let config = server.config();
    Place::new(&format!(
        "nodes:
- {{id: a, type: agent, config: {{{config}}}}}
- {{id: b, type: agent, config: {{{config}}}}}
edges: [{{from: a, to: b}}]
"
    ))
}

fn lines(path: &Path) -> Vec<Value> {
    fs::read_to_string(path)
        .unwrap()
        .lines()
        .map(json)
        .collect()
}

/// Returns the id of the run from what the command printed at its start.
fn run_id(err: &str) -> &str {
    let (_, id) = err.split_once("run ").unwrap();
    id.split_once(';').unwrap().0
}
