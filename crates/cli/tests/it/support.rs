//! A folder in which the command runs.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use serde_json::Value;

pub(crate) struct Place(tempfile::TempDir);

/// What the command wrote, and its exit code.
#[derive(Debug)]
pub(crate) struct Told {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Place {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// A folder with the file `flow.yaml`.
    pub(crate) fn with_flow(flow: &str) -> Self {
        let place = Self::new();
        place.write("flow.yaml", flow);
        place
    }

    pub(crate) fn folder(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cogwork"));
        command
            .args(arguments)
            .current_dir(self.folder())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Runs a command line without spaces in its arguments.
    pub(crate) fn line(&self, arguments: &str) -> Told {
        self.cogwork(&arguments.split(' ').collect::<Vec<_>>())
    }

    pub(crate) fn cogwork(&self, arguments: &[&str]) -> Told {
        Told::of(self.command(arguments).output().unwrap())
    }
}

impl Told {
    pub(crate) fn of(output: Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Checks that the command ended well, with this output.
    #[track_caller]
    pub(crate) fn answers(&self, out: &str) {
        assert_eq!((self.code, self.out.as_str()), (0, out), "{}", self.err);
    }

    /// Checks the exit code, and a part of what was written beside the output. If nothing could
    /// begin, which is the code 4, there is no output.
    #[track_caller]
    pub(crate) fn fails(&self, code: i32, part: &str) {
        let is_so = self.code == code && self.err.contains(part);
        let is_so = is_so && (code != 4 || self.out.is_empty());
        assert!(is_so, "expected {code} and {part:?}: {self:?}");
    }

    /// Returns the output as JSON.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap()
    }
}

/// Returns the id of the run from what the command printed at its start.
pub(crate) fn run_id(err: &str) -> &str {
    let (_, id) = err.split_once("run ").unwrap();
    id.split_once(';').unwrap().0
}

/// A process that is ended with the test.
pub(crate) struct Running(pub(crate) Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Sends a request such as `GET /api/runs` with a token. Returns the status and the body of the answer.
pub(crate) fn ask(host: &str, token: &str, request: &str, body: &str) -> (String, String) {
    let length = body.len();
    let mut stream = TcpStream::connect(host).unwrap();
    write!(
        stream,
        "{request} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nAuthorization: Bearer {token}\r\n\
         Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
         Content-Length: {length}\r\n\r\n{body}"
    )
    .unwrap();

    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap();
    (status.to_owned(), body.to_owned())
}
