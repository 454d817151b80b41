//! The command `runs`.

#![expect(
    clippy::unwrap_used,
    reason = "the helpers of tests may, as the tests do"
)]

use std::path::Path;
use std::process::Command;

use cogwork_flow::{BoxError, Flow, from_phases};
use cogwork_journal::Store;

fn flow() -> Flow<u32> {
    let node = from_phases(
        |n: &mut u32| *n,
        |n: u32| async move { Ok::<_, BoxError>(n + 1) },
        |n, more| *n = more,
    );

    Flow::builder("add")
        .start("one")
        .node("one", node)
        .end("one", "default")
        .build()
        .unwrap()
}

#[tokio::main(flavor = "current_thread")]
async fn record(folder: &Path) {
    let store = Store::files(folder);
    let flow = flow();
    drop(store.start("begun", &flow, &1).await.unwrap());

    let journal = store.start("ended\u{1b}[2J", &flow, &1).await.unwrap();
    let mut run = flow.begin().with_journal(journal);
    run.finish(&mut 1).await.unwrap();
}

/// Runs the command; returns its exit code and what it printed, with times as `TIME`.
fn runs(folder: &Path, arguments: &[&str]) -> (i32, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_cogwork"))
        .args(["runs", "--journal", "runs"])
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap();

    let code = output.status.code().unwrap();
    let out = String::from_utf8(output.stdout).unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    (code, masked(&out), err)
}

fn masked(text: &str) -> String {
    let is_time = |word: &str| word.len() >= 24 && word.starts_with("20") && word.contains('T');
    let words = text.split_inclusive([' ', '\n']);
    let mask = |word: &str| {
        if is_time(word) {
            format!("TIME{}", word.split_at(24).1)
        } else {
            word.to_owned()
        }
    };
    words.map(mask).collect()
}

#[test]
fn runs_are_listed_with_their_times() {
    let folder = tempfile::tempdir().unwrap();
    record(&folder.path().join("runs"));

    let (code, out, err) = runs(folder.path(), &[]);
    assert_eq!((code, err.as_str()), (0, ""));
    insta::assert_snapshot!(out, @r"
    begun: `add`, started TIME, updated TIME: open
    ended\u{1b}[2J: `add`, started TIME, updated TIME: ended on `default` after 1 step
    ");
}

#[test]
fn the_record_of_a_run_is_listed_with_the_time_of_each_entry() {
    let folder = tempfile::tempdir().unwrap();
    record(&folder.path().join("runs"));

    let (code, out, err) = runs(folder.path(), &["ended\u{1b}[2J"]);
    assert_eq!((code, err.as_str()), (0, ""));
    insta::assert_snapshot!(out, @r"
    TIME  the run began
    TIME  add/one#1: outcome of 1 bytes
    TIME  ended on `default` after 1 step
    ");
}

#[test]
fn a_misspelt_place_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let (code, out, err) = runs(folder.path(), &[]);
    assert_eq!((code, out.as_str()), (4, ""));
    assert!(err.contains("runs: there is nothing here"), "{err}");
}

#[test]
fn a_run_that_does_not_exist_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let (code, out, err) = runs(folder.path(), &["7"]);
    assert_eq!((code, out.as_str()), (4, ""));
    assert!(err.contains("there is no run `7`"), "{err}");
}
