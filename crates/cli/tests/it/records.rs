//! Records that cannot be written, or that somebody else writes.

#![cfg(unix)]
#![expect(
    clippy::unwrap_used,
    reason = "the helpers of tests may, as the tests do"
)]

use std::fs;
use std::process::{Command, Output};

use cogwork_trace::{RecordReader, RecorderSettings, RunRecorder};
use tempfile::TempDir;

/// A folder with a flow that replies with a long text, without a server.
fn place() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let reply = "long ".repeat(4_000);
    let rules = format!("[{{when: Go, reply: \"{reply}\"}}]");
    let flow =
        format!("nodes: [{{id: a, type: agent, config: {{provider: rules, rules: {rules}}}}}]");

    fs::write(folder.path().join("flow.yaml"), flow).unwrap();
    folder
}

/// Runs the flow, in a shell that does something first.
fn run(folder: &TempDir, first: &str) -> Output {
    let command = env!("CARGO_BIN_EXE_cogwork");
    let script = format!("{first} exec {command} run flow.yaml -q --record run.trace --input Go");

    let mut shell = Command::new("sh");
    shell.args(["-c", &script]).current_dir(folder.path());
    shell.output().unwrap()
}

fn told(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The limit has the effect of a full disk: a write fails after a part of a line.
#[test]
fn on_a_full_disk_the_result_is_printed_and_the_record_is_readable() {
    let folder = place();
    let ran = run(&folder, "trap '' XFSZ; ulimit -f 8;");

    assert!(ran.stdout.starts_with(b"long long"), "{}", told(&ran));
    assert_eq!(ran.status.code(), Some(4), "{}", told(&ran));
    let error = told(&ran);
    assert!(error.contains("the record could not be written"), "{error}");

    let record = folder.path().join("run.trace");
    let mut reader = RecordReader::open(&record).unwrap();
    assert!(reader.by_ref().all(|event| event.is_ok()));
    assert!(reader.torn().is_some());
}

#[test]
fn a_record_that_another_program_writes_is_refused() {
    let folder = place();
    let record = folder.path().join("run.trace");
    let recorder = RunRecorder::open(&record, RecorderSettings::default()).unwrap();

    let ran = run(&folder, "");
    assert_eq!(ran.status.code(), Some(4));
    assert!(ran.stdout.is_empty());
    let error = told(&ran);
    assert!(
        error.contains("run.trace: another recorder writes this record"),
        "{error}"
    );
    assert_eq!(fs::metadata(&record).unwrap().len(), 0);

    drop(recorder);
    assert_eq!(run(&folder, "").status.code(), Some(0));
}
