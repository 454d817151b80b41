//! Pages of runs: the command `trace`, and the option `--page`.

#![expect(
    clippy::unwrap_used,
    reason = "the helpers of tests may, as the tests do"
)]

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

/// A folder with a flow that replies with a long text, without a server.
fn place() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let reply = "long ".repeat(4_000);
    let rules = format!("[{{when: Go, reply: \"{reply}\"}}]");
    let flow = format!(
        "name: shop\nnodes: [{{id: a, type: agent, config: {{provider: rules, rules: {rules}}}}}]"
    );

    fs::write(folder.path().join("flow.yaml"), flow).unwrap();
    folder
}

fn cogwork(folder: &Path, arguments: &[&str]) -> (i32, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cogwork"));
    let output = command.args(arguments).current_dir(folder).output();
    let output = output.unwrap();
    (output.status.code().unwrap(), told(&output))
}

fn told(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Runs the flow with a journal, and returns the id of the run.
fn run(folder: &Path, journal: &str) -> String {
    let run = ["run", "flow.yaml", "-i", "Go", "--journal", journal];
    let (code, told) = cogwork(folder, &run);
    assert_eq!(code, 0, "{told}");
    let (_, rest) = told.split_once("run ").unwrap();
    rest.split(';').next().unwrap().to_owned()
}

fn page(folder: &Path) -> String {
    fs::read_to_string(folder.join("run.html")).unwrap()
}

#[test]
fn a_page_of_a_run_in_any_place() {
    let folder = place();
    let folder = folder.path();

    for journal in ["runs", "tickets.db"] {
        let run = run(folder, journal);
        let trace = ["trace", &run, "--journal", journal, "-o", "run.html"];
        assert_eq!(cogwork(folder, &trace), (0, String::new()));
        assert!(page(folder).contains(&format!("<title>shop · {run}</title>")));
        assert!(page(folder).contains("long long"));

        let (code, told) = cogwork(folder, &["runs", "--journal", journal, &run]);
        assert_eq!(code, 0, "{told}");
    }
}

#[test]
fn a_run_without_a_journal_has_a_page_too() {
    let folder = place();
    let run = ["run", "flow.yaml", "-q", "-i", "Go", "--page", "run.html"];
    assert_eq!(cogwork(folder.path(), &run), (0, String::new()));
    let shown = page(folder.path());
    assert!(shown.contains("long long"));
    assert!(shown.contains(r#""input":"Go""#), "the input");
    assert!(shown.contains(r#""type":"answered""#), "the answer");
    assert!(
        shown.contains(r#""source":"output""#),
        "the output of the node"
    );
}

#[test]
fn a_run_without_events_has_no_page() {
    let folder = place();
    let folder = folder.path();
    let run = [
        "run",
        "flow.yaml",
        "-q",
        "-i",
        "Go",
        "--journal",
        "runs",
        "--no-events",
    ];
    assert_eq!(cogwork(folder, &run).0, 0);

    let names = fs::read_dir(folder.join("runs")).unwrap();
    let names: Vec<_> = names.map(|entry| entry.unwrap().file_name()).collect();
    let run = names
        .iter()
        .find_map(|name| name.to_str()?.strip_suffix(".jsonl"));
    let trace = ["trace", run.unwrap(), "--journal", "runs", "-o", "run.html"];
    let (code, told) = cogwork(folder, &trace);
    assert_eq!(code, 4);
    assert!(told.contains("no events of the run"), "{told}");
}

#[test]
fn that_fails_keeps_what_is_there() {
    let folder = place();
    let folder = folder.path();
    let run = run(folder, "runs");
    let journal = format!("runs/{run}.jsonl");
    fs::write(folder.join("empty"), "").unwrap();

    for (run, output, expected) in [
        ("other", "run.html", "there is no run `other`"),
        (
            run.as_str(),
            journal.as_str(),
            "there is a file that isn't a page",
        ),
        (run.as_str(), "empty", "there is a file that isn't a page"),
        (
            run.as_str(),
            "none/run.html",
            "none/run.html: could not be written",
        ),
    ] {
        let before = fs::read(folder.join(output)).ok();
        let trace = ["trace", run, "--journal", "runs", "-o", output];
        let (code, told) = cogwork(folder, &trace);
        assert_eq!(code, 4, "{told}");
        assert!(told.contains(expected), "{told}");
        assert_eq!(fs::read(folder.join(output)).ok(), before);
    }

    assert_eq!(cogwork(folder, &["trace", &run, "--journal", "runs"]).0, 2);
}

#[test]
fn the_address_of_a_server_is_shown_without_its_password() {
    let folder = place();
    let address = "postgres://me:hunter2@127.0.0.1:1/db";
    let run = ["run", "flow.yaml", "-i", "Go", "--journal", address];
    let (code, told) = cogwork(folder.path(), &run);
    assert_eq!(code, 4, "{told}");
    assert!(!told.contains("hunter2"), "{told}");
}

#[test]
fn a_run_has_the_id_that_it_is_given() {
    let folder = place();
    let folder = folder.path();
    let run = [
        "run",
        "flow.yaml",
        "-q",
        "-i",
        "Go",
        "--journal",
        "runs",
        "--id",
        "a tale",
    ];
    assert_eq!(cogwork(folder, &run).0, 0);
    let (code, told) = cogwork(folder, &["runs", "--journal", "runs", "a tale"]);
    assert_eq!(code, 0, "{told}");

    let (code, told) = cogwork(folder, &run);
    assert_ne!(code, 0);
    assert!(told.contains("the run `a tale` already exists"), "{told}");
}
