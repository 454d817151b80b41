//! Texts from files and models are always shown safely.

#![cfg(unix)]
#[path = "../../../text/tests/support/hostile.rs"]
mod hostile;

use hostile::{assert_safe, assert_safe_line, texts};

use crate::support::Place;

/// The text as far as it may be in the name of a file.
fn file_name(text: &str) -> String {
    let name = text.chars().filter(|c| !matches!(c, '/' | '\0'));
    name.take(40).collect()
}

/// The text as a YAML scalar, every character escaped.
fn scalar(text: &str) -> String {
    let escaped = text.chars().map(|c| format!("\\U{:08X}", u32::from(c)));
    format!("\"{}\"", escaped.collect::<String>())
}

fn agent(id: &str, settings: &str) -> String {
    format!("nodes: [{{id: {id}, type: agent, config: {{{settings}}}}}]")
}

#[test]
fn problems_and_runs_are_told_safely() {
    for text in texts() {
        let place = Place::new();
        let name = format!("flow{}", file_name(&text));
        let told = place.cogwork(&["check", &name]).err;
        let line = told.strip_suffix('\n').unwrap();
        assert!(!line.is_empty());
        assert_safe_line(line);

        let reply = scalar(&text);
        place.write(&name, &agent(&reply, &format!("provider: {reply}")));
        let told = place.cogwork(&["check", &name]).err;
        assert!(!told.is_empty());
        told.lines().for_each(assert_safe_line);

        // An id has as much of the text in it as it may have.
        let plain: String = text.chars().filter(|c| !matches!(c, '{' | '}')).collect();
        let part: String = plain.chars().take(150).collect();
        let id = scalar(&format!("id{part}"));
        let reason = scalar(&plain);
        let choice = "provider: scripted, actions: [go], asks_again: 0, replies: ";
        let wait = format!("nodes: [{{id: {id}, type: wait, config: {{reason: {reason}}}}}]");
        let files = [
            ("choice.yaml", agent("a", &format!("{choice}[{reply}]"))),
            ("wait.yaml", wait),
        ];

        let runs = format!("runs{}", file_name(&text));
        let nowhere = format!("nowhere/{runs}.html");
        for (name, flow) in &files {
            place.write(name, flow);
            let told = place
                .cogwork(&["run", name, "-i", "a", "--journal", &runs])
                .err;
            assert!(told.contains("#1"), "{told:?}");
            // The last reply of a model may have tabs.
            assert_safe(&told);
        }
        for arguments in [
            &["run", "wait.yaml", "--journal", &runs, "--resume", &runs][..],
            &["run", "wait.yaml", "-i", "a", "--page", &nowhere],
        ] {
            let told = place.cogwork(arguments).err;
            assert!(told.contains("cogwork: "), "{arguments:?}");
            assert_safe(&told);
        }
    }
}
