//! No other crate opens or changes files by their paths.

#![expect(
    clippy::unwrap_used,
    reason = "the helpers of tests may, as the tests do"
)]

use std::fs;
use std::path::{Path, PathBuf};

/// Which crates may: this one, those that are for tests, and one whose stores check paths themselves.
const EXEMPT: [&str; 4] = ["files", "fuzz", "text", "journal"];

const CALLS: [&str; 14] = [
    "File::open(",
    "File::options(",
    "File::create(",
    "File::create_new(",
    "OpenOptions::new(",
    "fs::read(",
    "fs::read_to_string(",
    "fs::write(",
    "fs::copy(",
    "fs::rename(",
    "fs::remove_file(",
    "fs::create_dir",
    "fs::hard_link(",
    ".canonicalize(",
];

/// Every Rust file beneath a folder.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());

    entries
        .flat_map(|path| match path.extension() {
            _ if path.is_dir() => sources(&path),
            Some(extension) if extension == "rs" => vec![path],
            _ => Vec::new(),
        })
        .collect()
}

/// The lines of code that call what only this crate may.
fn calls(source: &Path) -> Vec<String> {
    let text = fs::read_to_string(source).unwrap();
    let is_call = |line: &&str| {
        !line.trim_start().starts_with("//") && CALLS.iter().any(|call| line.contains(call))
    };

    text.lines()
        .filter(is_call)
        .map(|line| format!("{}: {line}", source.display()))
        .collect()
}

#[test]
fn files_are_opened_by_this_crate_alone() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let others: Vec<PathBuf> = fs::read_dir(crates)
        .unwrap()
        .map(|entry| entry.unwrap().path().join("src"))
        .filter(|sources| {
            sources.is_dir()
                && !EXEMPT
                    .iter()
                    .any(|name| sources.parent().unwrap().ends_with(name))
        })
        .collect();

    assert!(others.len() > 5, "{others:?}");

    let found: Vec<String> = others
        .iter()
        .flat_map(|folder| sources(folder))
        .flat_map(|file| calls(&file))
        .collect();

    assert!(
        found.is_empty(),
        "these go through `cogwork_files::Folder` instead:\n{}",
        found.join("\n")
    );
}
