//! Mistakes of models and their repairs: a fixture and a reviewed snapshot for each class.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "the helpers of tests may, as the tests do"
)]

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use cogwork_cot::Reply;

fn fixtures(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures")
        .join(folder);
    let files = fs::read_dir(folder)
        .expect("the folder of fixtures")
        .map(|file| file.expect("a file").path());
    let mut files: Vec<_> = files
        .filter(|file| file.extension().is_some_and(|end| end == "txt"))
        .collect();
    files.sort();

    files
}

/// The whole of what comes of a reply.
fn outcome(raw: &str) -> String {
    let mut text = String::new();
    match Reply::read(raw) {
        Ok(read) => {
            for repair in &read.repairs {
                writeln!(text, "{repair} ({:?})", repair.kind).unwrap();
            }

            write!(text, "\n{}\n", read.reply).unwrap();
        }
        Err(problem) => writeln!(text, "{:?}: {problem}", problem.kind()).unwrap(),
    }

    text
}

#[test]
fn every_class_of_fault_is_repaired_and_reported_or_said_to_be_wrong() {
    insta::with_settings!({ prepend_module_to_snapshot => false, snapshot_path => "snapshots/repairing" }, {
        for file in fixtures("replies") {
            let raw = fs::read_to_string(&file).unwrap();
            let name = file.file_stem().unwrap().to_string_lossy().into_owned();
            insta::assert_snapshot!(name, outcome(&raw));
        }
    });
}
