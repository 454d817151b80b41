//! Each pattern of the cookbook prints what its header shows, and its core is as short as the header says.

#![expect(
    clippy::expect_used,
    reason = "the helpers of tests may, as the tests do"
)]

use std::fs;
use std::path::{Path, PathBuf};

use crate::outputs::{self, Example};

/// The patterns, and the maximum number of lines of their cores.
const PATTERNS: [(&str, usize); 17] = [
    ("agent", 20),
    ("agent_with_nodes", 60),
    ("batch", 30),
    ("chat_with_memory", 70),
    ("human_in_the_middle", 45),
    ("judge", 50),
    ("majority_vote", 25),
    ("map_reduce", 50),
    ("nested_batch", 60),
    ("parallel_batch", 30),
    ("retrieval", 45),
    ("stream_to_a_web_client", 30),
    ("supervisor", 50),
    ("text_to_sql", 60),
    ("two_agents", 65),
    ("typed_extraction", 24),
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
fn the_readme_states_the_same_numbers() {
    let readme = folder().join("../README.md");
    let readme = fs::read_to_string(readme).expect("the readme can be read");

    for (name, _) in PATTERNS {
        let lines = core_lines(&source(name));
        let row = format!("](cookbook/{name}.rs) | {lines} |");
        assert!(readme.contains(&row), "{name}: expected `{row}`");
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

/// A typed answer takes six lines in addition to the type.
#[test]
fn a_typed_answer_is_short() {
    let source = source("typed_extraction");
    let (_, call) = source
        .split_once("\nasync fn read(")
        .expect("the call is a function");
    let (body, _) = call.split_once("\n}\n").expect("the function ends");

    let lines = body.lines().count() + 1;
    assert!(lines <= 6, "{lines} lines");
}

#[test]
fn patterns_print_what_their_headers_show() {
    let mut names = outputs::listed("cookbook");

    for name in &names {
        let program = "cookbook";
        let name = Some(name.as_str());
        Example { program, name }.check();
    }

    names.sort();
    assert_eq!(names, PATTERNS.map(|(name, _)| name));
}
