//! Sessions as Mermaid flowcharts.

use std::collections::HashSet;
use std::fmt::{self, Write};

use cogwork_text::{MermaidLabel, OneLine};

use super::shown::{Shown, ShownThought};

/// The maximum number of thoughts. Mermaid refuses drawings with more than 500 edges.
const THOUGHTS: usize = 200;

/// The maximum number of characters of a thought.
const CHARS: usize = 160;

/// The maximum number of characters of a label.
const LABEL: usize = 60;

/// The maximum number of thoughts that one follows.
const PARENTS: usize = 2;

/// Draws the newest thoughts of a session, without a newline at the end.
pub(super) fn draw(shown: &Shown) -> String {
    let left_out = shown.thoughts.len().saturating_sub(THOUGHTS);
    let thoughts = shown.thoughts.get(left_out..).unwrap_or_default();
    let mut drawing = "flowchart TD".to_owned();

    let left_out = u64::try_from(left_out).unwrap_or(u64::MAX);
    let older = shown.older.saturating_add(left_out);
    node(&mut drawing, "problem", ["([", "])"], &title(shown, older));
    for thought in thoughts {
        let id = format!("t{}", thought.number);
        node(&mut drawing, &id, ["[", "]"], &label(thought));
    }
    if let Some(answer) = &shown.answer {
        let answer = OneLine::new(answer).with_max_chars(CHARS).to_string();
        node(&mut drawing, "answer", ["[[", "]]"], &answer);
    }

    let drawn: HashSet<u64> = thoughts.iter().map(|thought| thought.number).collect();
    for thought in thoughts {
        edges(&mut drawing, thought, &drawn);
    }
    if let Some(last) = thoughts.last().filter(|_| shown.answer.is_some()) {
        line(&mut drawing, format_args!("t{} --> answer", last.number));
    }
    drawing
}

fn title(shown: &Shown, older: u64) -> String {
    let title = OneLine::new(&shown.title).with_max_chars(CHARS);
    match older {
        0 => title.to_string(),
        1 => format!("{title}\n(1 older thought isn't shown)"),
        _ => format!("{title}\n({older} older thoughts aren't shown)"),
    }
}

fn label(thought: &ShownThought) -> String {
    let number = thought.number;
    let label = OneLine::new(&thought.label).with_max_chars(LABEL);
    let branch = thought.branch.as_ref();
    let branch = branch.map(|branch| format!(" on {}", OneLine::new(branch).with_max_chars(LABEL)));
    let text = OneLine::new(&thought.text).with_max_chars(CHARS);
    format!("{number}. {label}{}\n{text}", branch.unwrap_or_default())
}

fn edges(drawing: &mut String, thought: &ShownThought, drawn: &HashSet<u64>) {
    let number = thought.number;
    let parents = thought
        .parents
        .iter()
        .filter(|parent| drawn.contains(parent));
    let parents: Vec<_> = parents.take(PARENTS).collect();

    if parents.is_empty() {
        line(drawing, format_args!("problem --> t{number}"));
    }
    for parent in parents {
        line(drawing, format_args!("t{parent} --> t{number}"));
    }
    if let Some(revised) = thought.revises.filter(|revised| drawn.contains(revised)) {
        line(drawing, format_args!("t{number} -. revises .-> t{revised}"));
    }
}

fn node(drawing: &mut String, id: &str, [open, close]: [&str; 2], label: &str) {
    let label = MermaidLabel(label);
    line(drawing, format_args!("{id}{open}\"{label}\"{close}"));
}

fn line(drawing: &mut String, line: fmt::Arguments<'_>) {
    // Writing to a text doesn't fail.
    let _ = write!(drawing, "\n    {line}");
}
