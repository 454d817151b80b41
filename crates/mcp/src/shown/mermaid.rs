//! Sessions as Mermaid flowcharts. Texts of models are labels, which they can't end.

use std::collections::HashSet;

use cogwork_text::{MermaidLabel, OneLine};

use super::{Shown, Step};

/// The maximum number of thoughts in a drawing.
const THOUGHTS: usize = 120;

/// The maximum number of thoughts that a thought is drawn after. Mermaid refuses drawings with more
/// than 500 edges.
const PARENTS: usize = 3;

/// The maximum length of a drawing, in bytes. Mermaid draws up to 50,000 characters by default.
const BYTES: usize = 48_000;

/// The maximum number of characters of a label.
const LABEL: usize = 60;

/// The maximum number of characters of a text.
const TEXT: usize = 120;

/// Draws the newest thoughts of a session, without a newline at the end.
pub(crate) fn session(shown: &Shown) -> String {
    let mut thoughts = THOUGHTS;
    loop {
        let drawing = drawing(shown, thoughts);
        if drawing.len() <= BYTES || thoughts == 1 {
            return drawing;
        }
        thoughts /= 2;
    }
}

fn drawing(shown: &Shown, thoughts: usize) -> String {
    let first = shown.thoughts.len().saturating_sub(thoughts);
    let older = u64::try_from(first).unwrap_or(u64::MAX);
    let title = title(shown, shown.older.saturating_add(older));
    let mut lines = vec![
        "flowchart TD".to_owned(),
        node("problem", ["([", "])"], &title),
    ];

    let mut drawn = HashSet::new();
    let newest = shown.thoughts.iter().skip(first);
    for step in newest.clone() {
        let id = format!("t{}", step.number);
        lines.push(node(&id, ["[", "]"], &label(step)));
        lines.extend(edges(step, &drawn));
        drawn.insert(step.number);
    }

    if let Some(answer) = &shown.answer {
        let label = OneLine::new(answer).with_max_chars(TEXT).to_string();
        lines.push(node("answer", ["[[", "]]"], &label));
        lines.extend(
            newest
                .last()
                .map(|last| format!("t{} --> answer", last.number)),
        );
    }
    lines.join("\n    ")
}

fn title(shown: &Shown, older: u64) -> String {
    let title = OneLine::new(&shown.title).with_max_chars(TEXT);
    match older {
        0 => title.to_string(),
        1 => format!("{title}\n(1 older thought isn't shown)"),
        _ => format!("{title}\n({older} older thoughts aren't shown)"),
    }
}

/// Returns the edges to the thoughts that this one follows and revises.
fn edges(step: &Step, drawn: &HashSet<u64>) -> Vec<String> {
    let number = step.number;
    let parents = step.parents.iter().filter(|parent| drawn.contains(parent));
    let mut edges: Vec<String> = parents
        .take(PARENTS)
        .map(|parent| format!("t{parent} --> t{number}"))
        .collect();

    if edges.is_empty() {
        edges.push(format!("problem --> t{number}"));
    }
    let revised = step.revises.filter(|revised| drawn.contains(revised));
    edges.extend(revised.map(|revised| format!("t{number} -. revises .-> t{revised}")));
    edges
}

fn label(thought: &Step) -> String {
    let number = thought.number;
    let label = OneLine::new(&thought.stage).with_max_chars(LABEL);
    let branch = thought.branch.as_ref();
    let branch = branch.map(|branch| format!(" on {}", OneLine::new(branch).with_max_chars(LABEL)));
    let text = OneLine::new(&thought.text).with_max_chars(TEXT);
    format!("{number}. {label}{}\n{text}", branch.unwrap_or_default())
}

fn node(id: &str, [open, close]: [&str; 2], label: &str) -> String {
    let label = MermaidLabel(label);
    format!("{id}{open}\"{label}\"{close}")
}
