//! A disk that is full. The size of files is limited instead.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use super::support::thought;
use crate::process::{self, Process};

/// Starts a server whose files can have at most 256 KiB.
fn limited(folder: &Path) -> Process {
    let server = process::server(folder);
    let mut limited = Command::new("bash");
    limited
        .args(["-c", r#"trap "" XFSZ; ulimit -f 256; exec "$@""#, "-"])
        .arg(server.get_program())
        .args(server.get_args());
    Process::start(limited)
}

fn long_thought(session: &str) -> Value {
    let mut thought = thought(session);
    thought["thought"] = "a".repeat(2_000).into();
    thought
}

/// Returns the number of thoughts, or the message.
fn outcome(result: &Value) -> Result<u64, String> {
    if result["isError"] == true {
        let message = result["content"][0]["text"].as_str();
        return Err(message.expect("a text").to_owned());
    }
    let count = &result["structuredContent"]["thoughtHistoryLength"];
    Ok(count.as_u64().expect("a number"))
}

#[test]
fn a_full_disk_is_an_error_and_nothing_is_lost() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut process = limited(folder.path());

    let mut count = 0;
    let error = loop {
        match outcome(&process.record(&long_thought("a"))) {
            Ok(number) => count = number,
            Err(error) => break error,
        }
    };
    assert!(count >= 5, "{count}");
    assert!(error.starts_with("the database of sessions"), "{error}");
    drop(process);

    let mut process = Process::start(process::server(folder.path()));
    assert_eq!(outcome(&process.record(&long_thought("a"))), Ok(count + 1));
}

#[test]
fn calls_that_overlap_on_a_full_disk_are_stored_or_refused() {
    const SESSIONS: u64 = 10;
    const CALLS: u64 = 300;

    let folder = tempfile::tempdir().expect("a folder");
    let mut process = limited(folder.path());
    for id in 0..CALLS {
        let arguments = long_thought(&(id % SESSIONS).to_string());
        let params = json!({ "name": "sequentialthinking", "arguments": arguments });
        process.send(id, "tools/call", &params);
    }

    let mut counts: BTreeMap<u64, u64> = BTreeMap::new();
    let mut refused = 0;
    for _ in 0..CALLS {
        let answer = process.receive().expect("an answer");
        let session = answer["id"].as_u64().expect("a number") % SESSIONS;
        match outcome(&answer["result"]) {
            Ok(count) => {
                let last = counts.entry(session).or_default();
                *last = count.max(*last);
            }
            Err(_) => refused += 1,
        }
    }
    assert!(refused > 0 && refused < CALLS, "{refused} were refused");
    drop(process);

    let mut process = Process::start(process::server(folder.path()));
    for (session, count) in counts {
        let next = outcome(&process.record(&long_thought(&session.to_string())));
        assert_eq!(next, Ok(count + 1), "session {session}");
    }
}
