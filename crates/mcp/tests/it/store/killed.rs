//! A server that is killed loses no thought that it answered.

use std::thread;
use std::time::Duration;

use serde_json::Value;

use super::of_session;
use crate::process::{self, Process};

const ROUNDS: u64 = 12;

/// The number of requests that wait while the server is killed.
const WAITING: u64 = 100;

fn count(answer: &Value) -> u64 {
    let count = &answer["structuredContent"]["thoughtHistoryLength"];
    count.as_u64().expect("a number")
}

/// Sends many thoughts, kills the server in the meantime, and returns the last count it answered.
fn killed_meanwhile(mut process: Process, delay: Duration) -> Option<u64> {
    for id in 0..WAITING {
        process.send(id, "sequentialthinking", &of_session("a"));
    }

    // Any moment will do, so nothing is expected of the clock.
    thread::sleep(delay);
    process.child.kill().expect("killed");
    process.child.wait().expect("the end");

    let mut last = None;
    while let Some(answer) = process.receive() {
        last = Some(count(&answer["result"]));
    }
    last
}

#[test]
fn no_thought_that_was_answered_is_lost() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut recorded = 0;
    let mut interrupted = 0;

    for round in 0..ROUNDS {
        let mut process = Process::start(process::server(folder.path()));
        let first = count(&process.call("sequentialthinking", &of_session("a")));
        assert!(first > recorded, "{first} after {recorded}");

        let delay = Duration::from_micros(round * round * 300);
        let last = killed_meanwhile(process, delay);
        recorded = last.unwrap_or(first);
        interrupted += u64::from(recorded < first + WAITING);
    }

    assert!(interrupted > 0, "the server was never killed in between");
}
