//! The command `trace`, which makes a page of a record.

#![expect(
    clippy::unwrap_used,
    reason = "the helpers of tests may, as the tests do"
)]

use std::fs;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

const RECORD: &str = "\
{\"cogwork_record\":1,\"run\":\"order-17\",\"flow\":\"shop\",\"started\":1763875000.5}
{\"at\":0.0,\"type\":\"run_started\"}
{\"at\":0.1,\"type\":\"step_ente";

fn trace(folder: &TempDir, record: &str) -> (i32, String) {
    fs::write(folder.path().join("run.jsonl"), record).unwrap();
    trace_in(folder.path(), &["trace", "run.jsonl", "-o", "run.html"])
}

fn trace_in(folder: &Path, arguments: &[&str]) -> (i32, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cogwork"));
    let output = command
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap();

    let told = String::from_utf8(output.stderr).unwrap();
    (output.status.code().unwrap(), told)
}

#[test]
fn writes_a_page_and_prints_what_it_does_not_show() {
    let folder = tempfile::tempdir().unwrap();
    let (code, told) = trace(&folder, RECORD);

    let expected = "The last line of the record is incomplete (27 bytes), as after a crash.\n";
    assert_eq!((code, told.as_str()), (0, expected));
    let page = fs::read_to_string(folder.path().join("run.html")).unwrap();
    assert!(page.contains("<title>shop · order-17</title>"), "{page}");
}

#[test]
fn finds_the_record_of_a_run_next_to_its_journal() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("runs")).unwrap();
    fs::write(folder.path().join("runs/%4frder%2f17.trace"), RECORD).unwrap();

    let arguments = ["trace", "Order/17", "--journal", "runs", "-o", "run.html"];
    let (code, told) = trace_in(folder.path(), &arguments);
    assert_eq!(code, 0, "{told}");
    assert!(folder.path().join("run.html").exists());
}

#[test]
fn that_fails_names_the_file_and_keeps_the_earlier_page() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("run.html"), "earlier").unwrap();
    let (code, told) = trace(&folder, "nothing\n");

    assert_eq!(code, 4);
    assert!(told.starts_with("cogwork: run.jsonl: line 1"), "{told}");
    let page = fs::read_to_string(folder.path().join("run.html")).unwrap();
    assert_eq!(page, "earlier");
}

/// A page in the place of a record would be the end of the record.
#[test]
fn never_replaces_a_record() {
    let folder = tempfile::tempdir().unwrap();
    let newer = "{\"cogwork_record\":99,\"run\":\"r\"}\n";

    for (name, content) in [
        ("run.jsonl", RECORD),
        ("run.html", RECORD),
        ("run.html", newer),
    ] {
        fs::write(folder.path().join("run.jsonl"), RECORD).unwrap();
        fs::write(folder.path().join(name), content).unwrap();

        let (code, told) = trace_in(folder.path(), &["trace", "run.jsonl", "-o", name]);
        assert_eq!(code, 4);
        assert!(told.contains("this is the record of a run"), "{told}");
        let kept = fs::read_to_string(folder.path().join(name)).unwrap();
        assert_eq!(kept, content);
    }
}

#[test]
fn needs_a_file_and_a_place_for_the_page() {
    let folder = tempfile::tempdir().unwrap();

    let (code, told) = trace_in(folder.path(), &["trace", "none.jsonl", "-o", "run.html"]);
    assert_eq!(code, 4);
    assert!(told.starts_with("cogwork: none.jsonl: "), "{told}");

    let (code, _) = trace_in(folder.path(), &["trace", "none.jsonl"]);
    assert_eq!(code, 2);
}
