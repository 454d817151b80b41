//! Thoughts on the standard error output.

use std::io::{self, Write};

use cogwork_text::{Name, OneLine};

use super::thought::Thought;

/// The maximum number of characters of a text.
const TEXT: usize = 1_000;

/// Writes a thought as one line, whatever it contains.
pub(super) fn write(thought: &Thought) {
    let line = line(thought);
    // Nobody may be reading.
    let _ = writeln!(io::stderr().lock(), "{line}");
}

fn line(thought: &Thought) -> String {
    let number = thought.thought_number;
    let total = thought.total_thoughts;
    let title = title(thought);
    let text = OneLine::new(&thought.thought).with_max_chars(TEXT);
    format!("{title} {number}/{total}: {text}")
}

fn title(thought: &Thought) -> String {
    if thought.is_revision == Some(true) {
        let revised = thought.revises_thought;
        let revised = revised.map(|number| format!(" of thought {number}"));
        let revised = revised.unwrap_or_default();
        return format!("Revision{revised}, thought");
    }
    if let Some((id, from)) = thought.branch() {
        let id = Name(id);
        return format!("Branch `{id}` from thought {from}, thought");
    }
    "Thought".to_owned()
}
