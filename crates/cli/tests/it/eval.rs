//! The command `eval`, on the suite of the examples.

#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

const SUITE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../examples/files/eval.yaml"
);

fn eval(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_cogwork"))
        .args(["eval", SUITE, "--quiet", "--journal", "runs"])
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap()
}

fn table(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn a_suite_makes_a_table_a_page_and_a_choice() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = [
        "--json",
        "--page",
        "table.html",
        "--run-pages",
        "--pick",
        "most accuracy",
        "-o",
        "best.yaml",
    ];
    let made = eval(folder.path(), &arguments);
    assert_eq!(made.status.code(), Some(0), "{made:?}");

    let arms = table(&made)["arms"].as_array().unwrap().clone();
    let names: Vec<_> = arms
        .iter()
        .map(|arm| arm["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["guess", "in steps", "with a plan"]);
    assert!(
        arms.iter()
            .all(|arm| arm["accuracy"].is_number() && arm["interval"].is_array())
    );

    assert_eq!(
        String::from_utf8_lossy(&made.stderr),
        "picked: with a plan\n"
    );
    let best = std::fs::read_to_string(folder.path().join("best.yaml")).unwrap();
    assert!(best.contains("plan_first"), "{best}");
    let page = std::fs::read_to_string(folder.path().join("table.html")).unwrap();
    assert!(page.contains("with a plan") && page.contains("href=\"table-runs/guess-"));
    let pages = std::fs::read_dir(folder.path().join("table-runs")).unwrap();
    assert_eq!(pages.count(), 15);
}

#[test]
fn an_earlier_table_and_conditions_set_the_exit_code() {
    let folder = tempfile::tempdir().unwrap();
    let made = eval(folder.path(), &["--json"]);
    std::fs::write(folder.path().join("earlier.json"), &made.stdout).unwrap();

    let same = eval(folder.path(), &["--baseline", "earlier.json"]);
    assert_eq!(same.status.code(), Some(0), "{same:?}");
    let strict = eval(folder.path(), &["--require", "accuracy >= 0.9"]);
    assert_eq!(strict.status.code(), Some(3), "{strict:?}");
    let wrong = eval(folder.path(), &["--baseline", "missing.json"]);
    assert_eq!(wrong.status.code(), Some(4), "{wrong:?}");
}
