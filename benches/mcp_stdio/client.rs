use std::collections::VecDeque;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

/// A server, and the client that talks to it.
pub(crate) struct Client {
    child: Child,
    requests: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
    line: String,
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
        let answers = BufReader::new(child.stdout.take().expect("an output"));
        let mut client = Self {
            child,
            requests,
            answers,
            line: String::new(),
            start: Duration::ZERO,
        };
        client.write(
            r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}"#,
        );
        client.read();
        client.start = started.elapsed();
        client.write(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        client
    }

    /// Records thoughts, while this many wait for their answers.
    pub(crate) fn thoughts(&mut self, first: usize, count: usize, window: usize) -> Measured {
        let mut waiting = VecDeque::new();
        let mut each = Vec::with_capacity(count);
        let ran = self.running();
        let started = Instant::now();

        for number in first..first + count {
            waiting.push_back(Instant::now());
            self.write(&call(number));
            if waiting.len() == window {
                self.read();
                each.extend(waiting.pop_front().map(|sent| sent.elapsed()));
            }
        }
        while let Some(sent) = waiting.pop_front() {
            self.read();
            each.push(sent.elapsed());
        }

        Measured {
            each,
            all: started.elapsed(),
            running: self.running().saturating_sub(ran),
        }
    }

    /// Returns how long all threads of the server were running so far.
    fn running(&self) -> Duration {
        let path = format!("/proc/{}/stat", self.child.id());
        let fields = fs::read_to_string(path).unwrap_or_default();
        let fields = fields.split_whitespace().skip(13).take(2);
        let ticks: u64 = fields.filter_map(|field| field.parse::<u64>().ok()).sum();
        // A tick is a hundredth of a second.
        Duration::from_millis(ticks * 10)
    }

    /// Closes the connection, and waits for the end of the server.
    pub(crate) fn finish(mut self) {
        self.requests = None;
        self.child.wait().expect("the end");
    }

    fn write(&mut self, line: &str) {
        let requests = self.requests.as_mut().expect("a connection");
        requests
            .write_all(format!("{line}\n").as_bytes())
            .expect("the server reads");
    }

    fn read(&mut self) {
        self.line.clear();
        self.answers
            .read_line(&mut self.line)
            .expect("the server writes");
        let failed = self.line.is_empty()
            || self.line.contains(r#""isError":true"#)
            || self.line.contains(r#""error":{"#);
        assert!(!failed, "{}", self.line);
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn call(number: usize) -> String {
    let thought =
        "The three cases differ only in the sign, so it is enough to look at one of them.";
    format!(
        r#"{{"jsonrpc":"2.0","id":{number},"method":"tools/call","params":{{"name":"sequentialthinking","arguments":{{"thought":"{thought}","thoughtNumber":{number},"totalThoughts":{number},"nextThoughtNeeded":true}}}}}}"#
    )
}
