//! Thoughts on the standard error output.

use std::io::Read;
use std::process::Stdio;

use cogwork_text::testing::{assert_safe_line, texts};
use serde_json::{Value, json};

use super::support::thought;
use crate::process::{self, Process};

/// Records thoughts, and returns what the server wrote to its log.
fn log(thoughts: &[Value]) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let mut command = process::server(folder.path());
    command.arg("--log").stderr(Stdio::piped());

    let mut process = Process::start(command);
    for thought in thoughts {
        process.record(thought);
    }

    let mut log = String::new();
    let stderr = process.child.stderr.take();
    process.child.kill().expect("killed");
    stderr
        .expect("a log")
        .read_to_string(&mut log)
        .expect("text");
    log
}

#[test]
fn each_thought_is_one_line() {
    let log = log(&[
        thought(json!({ "thought": "The first\none" })),
        thought(json!({ "thoughtNumber": 2, "isRevision": true, "revisesThought": 1 })),
        thought(json!({ "thoughtNumber": 3, "branchFromThought": 1, "branchId": "b" })),
        thought(json!({ "thoughtNumber": "refused" })),
        thought(json!({ "thoughtNumber": 4, "isRevision": true })),
    ]);

    insta::assert_snapshot!(log, @r"
    Thought 1/3: The first one
    Revision of thought 1, thought 2/3: a
    Branch `b` from thought 1, thought 3/3: a
    Revision, thought 4/4: a
    ");
}

#[test]
fn a_thought_cannot_control_the_terminal() {
    let texts = texts();
    let thoughts: Vec<_> = texts
        .iter()
        .map(|text| thought(json!({ "thought": text, "branchFromThought": 1, "branchId": text })))
        .collect();

    let log = log(&thoughts);

    assert_eq!(log.lines().count(), thoughts.len());
    for line in log.lines() {
        assert_safe_line(line);
        assert!(line.chars().count() < 2_000, "{line}");
    }
}
