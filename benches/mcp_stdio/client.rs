use std::fs;
use std::io::{Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use crate::exchange::Exchange;

/// How much is read at once, in bytes.
const READ: usize = 64 * 1024;

/// A server, and the client that talks to it.
///
/// The client does as little as possible while it measures: requests are written in advance, and
/// answers are only counted. It sends what there is room for in one write.
pub(crate) struct Client {
    child: Child,
    requests: Option<ChildStdin>,
    answers: ChildStdout,
    buffer: Vec<u8>,
    /// The time from starting the process to its first answer.
    pub(crate) start: Duration,
}

/// How long thoughts took.
pub(crate) struct Measured {
    pub(crate) each: Vec<Duration>,
    pub(crate) all: Duration,
    /// The time that all threads of the server were running, where Linux counts it.
    pub(crate) running: Duration,
}

impl Client {
    /// Starts a server.
    pub(crate) fn start(command: &str) -> Self {
        let mut words = command.split_whitespace();
        let program = words.next().expect("a command");
        let started = Instant::now();
        let mut child = Command::new(program)
            .args(words)
            .env("DISABLE_THOUGHT_LOGGING", "true")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the server starts");

        let requests = child.stdin.take();
        let answers = child.stdout.take().expect("an output");
        let mut client = Self {
            child,
            requests,
            answers,
            buffer: vec![0; READ],
            start: Duration::ZERO,
        };
        client.initialize();
        client.start = started.elapsed();
        client.write(b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n");
        client
    }

    fn initialize(&mut self) {
        self.write(
            br#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}"#,
        );
        self.write(b"\n");

        let mut answer = Vec::new();
        while !answer.ends_with(b"\n") {
            self.read(&mut answer);
        }
    }

    /// Records thoughts, while at most this many wait for their answers.
    pub(crate) fn thoughts(&mut self, first: usize, count: usize, window: usize) -> Measured {
        let mut exchange = Exchange::new(first, count);
        let ran = self.running();
        let started = Instant::now();

        while !exchange.is_complete() {
            self.write(exchange.send(window));
            self.read(exchange.answers());
            exchange.receive();
        }

        let all = started.elapsed();
        let running = self.running().saturating_sub(ran);
        Measured {
            each: exchange.times(),
            all,
            running,
        }
    }

    /// Returns how long all threads of the server were running so far.
    fn running(&self) -> Duration {
        let path = format!("/proc/{}/task", self.child.id());
        let threads = fs::read_dir(path).into_iter().flatten().flatten();
        let times = threads.filter_map(|thread| {
            let times = fs::read_to_string(thread.path().join("schedstat")).ok()?;
            times.split_whitespace().next()?.parse::<u64>().ok()
        });
        Duration::from_nanos(times.sum())
    }

    /// Closes the connection, and waits for the end of the server.
    pub(crate) fn finish(mut self) {
        self.requests = None;
        self.child.wait().expect("the end");
    }

    fn write(&mut self, text: &[u8]) {
        let requests = self.requests.as_mut().expect("a connection");
        requests.write_all(text).expect("the server reads");
    }

    /// Appends what the server has written.
    fn read(&mut self, answers: &mut Vec<u8>) {
        let read = self.answers.read(&mut self.buffer).expect("answers");
        assert!(read > 0, "the server has ended");
        answers.extend_from_slice(&self.buffer[..read]);
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
