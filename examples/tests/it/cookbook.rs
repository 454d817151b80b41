//! Each pattern of the cookbook prints what its header shows, and its core is as short as the header says.

#![expect(
    clippy::expect_used,
    reason = "the helpers of tests may, as the tests do"
)]

use std::fs;
use std::path::{Path, PathBuf};

use crate::outputs;

/// The patterns, and the maximum number of lines of their cores.
const PATTERNS: [(&str, usize); 9] = [
    ("batch", 30),
    ("human_in_the_middle", 45),
    ("majority_vote", 25),
    ("map_reduce", 50),
    ("nested_batch", 60),
    ("parallel_batch", 30),
    ("retrieval", 45),
    ("supervisor", 50),
    ("workflow", 55),
];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("cookbook")
}

fn source(name: &str) -> String {
    let file = folder().join(name).with_extension("rs");
    fs::read_to_string(file).expect("the pattern can be read")
}

/// The lines of the types and nodes, without blank lines and comments.
fn core_lines(source: &str) -> usize {
    let (_, rest) = source
        .split_once("\n// --- core ---\n")
        .expect("the core begins");
    let (core, _) = rest
        .split_once("\n// --- end of the core ---\n")
        .expect("the core ends");

    let lines = core.lines().map(str::trim);
    lines
        .filter(|line| !line.is_empty() && !line.starts_with("//"))
        .count()
}

#[test]
fn cores_have_the_stated_number_of_lines() {
    for (name, at_most) in PATTERNS {
        let source = source(name);
        let lines = core_lines(&source);

        assert!(lines <= at_most, "{name}: {lines} lines, at most {at_most}");
        let stated = format!("//! The core has {lines} lines.\n");
        assert!(source.contains(&stated), "{name}: expected `{stated}`");
    }
}

#[test]
fn the_guide_states_the_same_numbers() {
    let guide = folder().join("../../docs/guide/cookbook.md");
    let guide = fs::read_to_string(guide).expect("the guide can be read");

    for (name, _) in PATTERNS {
        let lines = core_lines(&source(name));
        let row = format!("](../../examples/cookbook/{name}.rs) | {lines} |");
        assert!(guide.contains(&row), "{name}: expected `{row}`");
    }
}

#[test]
fn patterns_name_the_part_to_change() {
    for (name, _) in PATTERNS {
        let source = source(name);
        let header = source.lines().take_while(|line| line.starts_with("//!"));
        let header: Vec<_> = header.collect();
        let named = header.join("\n");

        assert!(named.contains("change"), "{name}: {named}");
    }
}

#[test]
fn all_patterns_are_checked() {
    let files = fs::read_dir(folder()).expect("the cookbook is there");
    let names = files.map(|file| file.expect("an entry").path());
    let mut names: Vec<_> = names
        .filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned()))
        .collect();

    names.sort();
    assert_eq!(names, PATTERNS.map(|(name, _)| name));
}

#[test]
fn batch() {
    outputs::check("cookbook/batch.rs");
}

#[test]
fn human_in_the_middle() {
    outputs::check("cookbook/human_in_the_middle.rs");
}

#[test]
fn majority_vote() {
    outputs::check("cookbook/majority_vote.rs");
}

#[test]
fn map_reduce() {
    outputs::check("cookbook/map_reduce.rs");
}

#[test]
fn nested_batch() {
    outputs::check("cookbook/nested_batch.rs");
}

#[test]
fn parallel_batch() {
    outputs::check("cookbook/parallel_batch.rs");
}

#[test]
fn retrieval() {
    outputs::check("cookbook/retrieval.rs");
}

#[test]
fn supervisor() {
    outputs::check("cookbook/supervisor.rs");
}

#[test]
fn workflow() {
    outputs::check("cookbook/workflow.rs");
}
