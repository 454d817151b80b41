//! Sessions as Markdown, in which texts of models are code, so that they can't contain headings,
//! links or images.

use std::fmt::{self, Write};

use cogwork_text::{MultiLine, OneLine};

use super::shown::{Shown, ShownThought};

/// The maximum number of characters of a label.
const LABEL: usize = 200;

/// Writes a session.
pub(super) fn write(shown: &Shown) -> String {
    let mut text = format!("# {}\n", Code(&shown.title));

    let facts = shown.facts.iter();
    let facts = facts.map(|(name, value)| format!("- {name}: {}", Code(value)));
    section(&mut text, &facts.collect::<Vec<_>>().join("\n"));

    if let Some(problem) = &shown.problem {
        section(&mut text, "## Problem");
        section(&mut text, &code(problem));
    }
    if shown.older > 0 {
        let older = format!("{} older entries aren't shown.", shown.older);
        section(&mut text, &older);
    }
    for thought in &shown.thoughts {
        section(&mut text, &heading(thought));
        section(&mut text, &code(&thought.text));
        if !thought.details.is_empty() {
            section(&mut text, &details(thought));
        }
    }
    if let Some(answer) = &shown.answer {
        section(&mut text, "## Answer");
        section(&mut text, &code(answer));
    }
    text
}

fn section(text: &mut String, section: &str) {
    text.push('\n');
    text.push_str(section);
    text.push('\n');
}

fn heading(thought: &ShownThought) -> String {
    let mut heading = format!("## {}. {}", thought.number, Code(&thought.label));
    if let Some(branch) = &thought.branch {
        // Writing to a text doesn't fail.
        let _ = write!(heading, " on {}", Code(branch));
    }
    if let Some(revised) = thought.revises {
        let _ = write!(heading, ", revises {revised}");
    }
    if thought.parents.len() > 1 {
        let parents: Vec<_> = thought.parents.iter().map(ToString::to_string).collect();
        let _ = write!(heading, ", follows {}", parents.join(" and "));
    }
    heading
}

fn details(thought: &ShownThought) -> String {
    let lines = thought.details.iter();
    let lines = lines.map(|(name, value)| format!("- {}: {}", Code(name), Code(value)));
    lines.collect::<Vec<_>>().join("\n")
}

/// Returns a text as a block of code.
fn code(text: &str) -> String {
    indented(&MultiLine::new(text).to_string())
}

/// Returns the lines of a text as a block of code. Unlike a fence, this has no end that the text
/// could contain.
fn indented(text: &str) -> String {
    let lines = text.split('\n').map(|line| format!("    {line}"));
    lines.collect::<Vec<_>>().join("\n")
}

/// A text of one line as code within a line.
struct Code<T>(T);

impl<T: fmt::Display> fmt::Display for Code<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = OneLine::new(&self.0).with_max_chars(LABEL).to_string();
        match text.trim() {
            "" => f.write_str("` `"),
            text => write!(f, "`{}`", text.replace('`', "'")),
        }
    }
}
