//! Texts from files and models are always shown safely.

#![cfg(unix)]
#[path = "../../../text/tests/support/hostile.rs"]
mod hostile;

use hostile::{assert_safe, assert_safe_line, texts};

use crate::support::Place;

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
fn a_problem_is_told_on_one_line() {
    for text in texts() {
        let place = Place::new();
        let name = format!("flow{}", file_name(&text));
        let told = place.cogwork(&["check", &name]).err;
        assert_one_safe_line(&told);

        let flow = agent(&scalar(&text), &format!("provider: {}", scalar(&text)));
        place.write(&name, &flow);
        let told = place.cogwork(&["check", &name]).err;
        assert!(!told.is_empty());
        told.lines().for_each(assert_safe_line);
    }
}

#[test]
fn what_happens_in_a_run_is_told_safely() {
    for text in texts() {
        let fails = "provider: scripted, replies: [' ']";
        let speaks = format!("provider: scripted, replies: [{}]", scalar(&text));

        for settings in [fails, &speaks] {
            let place = Place::new();
            place.write("flow.yaml", &agent(&id(&text), settings));

            let told = place.cogwork(&["run", "flow.yaml", "--input", "a"]).err;
            assert!(told.starts_with("id"), "{:?}", told);
            told.lines().for_each(assert_safe_line);
        }
    }
}

#[test]
fn a_run_that_waits_fails_or_is_missing_is_told_safely() {
    for text in texts() {
        let place = Place::new();
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
        place.write("wait.yaml", &wait);
        place.write("choice.yaml", &agent("a", &choice));

        let record = ["--journal", &runs];
        let resume = ["--journal", &runs, "--resume", &runs];
        let nowhere = format!("nowhere/{runs}");
        let runs = [
            [&["run", "wait.yaml", "-i", "a"], &record[..]].concat(),
            [&["run", "choice.yaml", "-i", "a"], &record[..]].concat(),
            [&["run", "wait.yaml"], &resume[..]].concat(),
            vec!["run", "wait.yaml", "-i", "a", "--page", &nowhere],
        ];

        for arguments in runs {
            let told = place.cogwork(&arguments).err;
            assert!(told.contains("cogwork: "), "{arguments:?}");

            // The last reply of a model may have tabs.
            assert_safe(&told);
        }
    }
}

#[track_caller]
fn assert_one_safe_line(told: &str) {
    let line = told.strip_suffix('\n').unwrap_or_default();

    assert!(!line.is_empty(), "nothing is told in {told:?}");
    assert_safe_line(line);
}
