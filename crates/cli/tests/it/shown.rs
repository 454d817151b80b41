//! Texts from files and models are always shown safely.

#![cfg(unix)]
#![expect(
    clippy::unwrap_used,
    reason = "the helpers of tests may, as the tests do"
)]

#[path = "../../../text/tests/support/hostile.rs"]
mod hostile;

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use cogwork_text::files::{Folder, LockFile};
use hostile::{assert_safe, assert_safe_line, texts};

/// What the command writes.
struct Told {
    out: String,
    err: String,
}

fn cogwork(folder: &Path, arguments: &[&str]) -> Told {
    let output = Command::new(env!("CARGO_BIN_EXE_cogwork"))
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let Output { stdout, stderr, .. } = output;

    Told {
        out: String::from_utf8(stdout).unwrap(),
        err: String::from_utf8(stderr).unwrap(),
    }
}

/// The text as far as it may be in the name of a file.
fn file_name(text: &str) -> String {
    let name = text
        .chars()
        .filter(|character| !matches!(character, '/' | '\0'));

    name.take(40).collect()
}

/// The text as a YAML scalar, every character escaped.
fn scalar(text: &str) -> String {
    let escaped = text
        .chars()
        .map(|character| format!("\\U{:08X}", u32::from(character)));

    format!("\"{}\"", escaped.collect::<String>())
}

/// An id with as much of the text in it as an id may have.
fn id(text: &str) -> String {
    let part = text.chars().filter(|c| !matches!(c, '{' | '}')).take(150);

    scalar(&format!("id{}", part.collect::<String>()))
}

fn agent(id: &str, settings: &str) -> String {
    format!("nodes: [{{id: {id}, type: agent, config: {{{settings}}}}}]")
}

#[test]
fn a_file_that_is_well_is_told_on_one_line() {
    let flow = agent("a", "provider: scripted, replies: [b]");

    for text in texts() {
        let folder = tempfile::tempdir().unwrap();
        let name = format!("flow{}", file_name(&text));
        fs::write(folder.path().join(&name), &flow).unwrap();

        let told = cogwork(folder.path(), &["check", &name]);
        assert!(told.out.ends_with(": ok\n"), "{:?}", told.out);
        assert_safe_line(told.out.trim_end_matches('\n'));
        assert_eq!(told.err, "");
    }
}

#[test]
fn a_problem_is_told_on_one_line() {
    for text in texts() {
        let folder = tempfile::tempdir().unwrap();
        let name = format!("flow{}", file_name(&text));
        let told = cogwork(folder.path(), &["check", &name]);
        assert_one_safe_line(&told.err);

        let flow = agent(&scalar(&text), &format!("provider: {}", scalar(&text)));
        fs::write(folder.path().join(&name), flow).unwrap();
        let told = cogwork(folder.path(), &["check", &name]);
        assert!(!told.err.is_empty());
        told.err.lines().for_each(assert_safe_line);
    }
}

#[test]
fn what_happens_in_a_run_is_told_safely() {
    for text in texts() {
        let fails = "provider: scripted, replies: [' ']";
        let speaks = format!("provider: scripted, replies: [{}]", scalar(&text));

        for settings in [fails, &speaks] {
            let folder = tempfile::tempdir().unwrap();
            fs::write(folder.path().join("flow.yaml"), agent(&id(&text), settings)).unwrap();

            let told = cogwork(folder.path(), &["run", "flow.yaml", "--input", "a"]);
            assert!(told.err.starts_with("id"), "{:?}", told.err);
            told.err.lines().for_each(assert_safe_line);
        }
    }
}

#[test]
fn a_run_that_waits_fails_or_is_missing_is_told_safely() {
    for text in texts() {
        let folder = tempfile::tempdir().unwrap();
        let runs = format!("runs{}", file_name(&text));
        let reason: String = text.chars().filter(|c| !matches!(c, '{' | '}')).collect();
        let wait = format!(
            "nodes: [{{id: {}, type: wait, config: {{reason: {}}}}}]",
            id(&text),
            scalar(&reason)
        );
        let choice = format!(
            "provider: scripted, replies: [{}], actions: [go], asks_again: 0",
            scalar(&text)
        );
        fs::write(folder.path().join("wait.yaml"), wait).unwrap();
        fs::write(folder.path().join("choice.yaml"), agent("a", &choice)).unwrap();

        let record = ["--journal", &runs];
        let resume = ["--journal", &runs, "--resume", &runs];
        let nowhere = format!("nowhere/{runs}");
        let runs = [
            [&["run", "wait.yaml", "-i", "a"], &record[..]].concat(),
            [&["run", "choice.yaml", "-i", "a"], &record[..]].concat(),
            [&["run", "wait.yaml"], &resume[..]].concat(),
            vec!["run", "wait.yaml", "-i", "a", "--record", &nowhere],
        ];

        for arguments in runs {
            let told = cogwork(folder.path(), &arguments);
            assert!(told.err.contains("cogwork: "), "{arguments:?}");

            // The last reply of a model may have tabs.
            assert_safe(&told.err);
        }
    }
}

#[test]
fn an_answer_that_is_cut_off_is_told_on_one_line() {
    for text in texts() {
        let folder = tempfile::tempdir().unwrap();
        let flow = agent(
            &id(&text),
            "provider: scripted, replies: [{text: a, cut_off: true}]",
        );
        fs::write(folder.path().join("flow.yaml"), flow).unwrap();

        let told = cogwork(folder.path(), &["run", "flow.yaml", "--input", "a", "-q"]);
        assert!(told.err.contains(" is cut off"), "{:?}", told.err);
        assert_one_safe_line(&told.err);
    }
}

#[test]
fn a_memory_that_is_in_use_is_told_on_one_line() {
    for text in texts() {
        let folder = tempfile::tempdir().unwrap();
        let name = format!("notes{}", file_name(&text));
        let memory = format!(
            "provider: rules, rules: [], else: Well., memory: {{type: file, file: {}, recall: {{remember: true}}}}",
            scalar(&name)
        );
        let flow = agent(&id(&text), &memory);
        fs::write(folder.path().join("flow.yaml"), flow).unwrap();

        let place = Folder::open(folder.path()).unwrap();
        let held = LockFile::try_lock(&place, format!("{name}.lock")).unwrap();
        let told = cogwork(
            folder.path(),
            &["run", "flow.yaml", "--input", "a", "--quiet"],
        );
        assert!(
            told.err.contains(" went without its memory: "),
            "{:?}",
            told.err
        );
        assert_one_safe_line(&told.err);
        drop(held);
    }
}

#[track_caller]
fn assert_one_safe_line(told: &str) {
    let line = told.strip_suffix('\n').unwrap_or_default();

    assert!(!line.is_empty(), "nothing is told in {told:?}");
    assert_safe_line(line);
}
