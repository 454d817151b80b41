//! Sessions as Markdown. Texts of models are code, so that they can't contain headings, links or
//! images.

use std::fmt;

use cogwork_text::{MultiLine, OneLine};

use super::{Shown, Step};

/// The maximum number of characters of a title.
const TITLE: usize = 200;

/// Returns a whole session.
pub(crate) fn session(shown: &Shown) -> String {
    let mut text = head(shown);
    for one in &shown.thoughts {
        text.push_str(&thought(one));
    }
    if let Some(answer) = &shown.answer {
        text.push_str(&section("## Answer"));
        text.push_str(&section(&block(answer)));
    }
    text
}

/// Returns what comes before the thoughts.
pub(crate) fn head(shown: &Shown) -> String {
    let title = OneLine::new(&shown.title).with_max_chars(TITLE).to_string();
    let mut text = format!("# {}\n", code(&title));

    let facts = shown.facts.iter();
    let facts = facts.map(|(name, value)| format!("- {name}: {}", code(value)));
    let facts: Vec<_> = facts.collect();
    text.push_str(&section(&facts.join("\n")));

    if let Some(problem) = &shown.problem {
        text.push_str(&section("## Problem"));
        text.push_str(&section(&block(problem)));
    }
    match shown.older {
        0 => {}
        1 => text.push_str(&section("1 older entry isn't shown.")),
        older => {
            let note = format_args!("{older} older entries aren't shown.");
            text.push_str(&section(&note));
        }
    }
    text
}

/// Returns a thought.
pub(crate) fn thought(thought: &Step) -> String {
    let mut text = section(&heading(thought));
    text.push_str(&section(&block(&thought.text)));

    if !thought.details.is_empty() {
        let details = thought.details.iter();
        let details = details.map(|(name, value)| format!("- {}: {}", code(name), code(value)));
        let details: Vec<_> = details.collect();
        text.push_str(&section(&details.join("\n")));
    }
    text
}

fn section(section: &(impl fmt::Display + ?Sized)) -> String {
    format!("\n{section}\n")
}

fn heading(thought: &Step) -> String {
    let mut text = format!("## {}. {}", thought.number, code(&thought.stage));
    if let Some(strategy) = &thought.strategy {
        text.push_str(&format!(" of {}", code(strategy)));
    }
    if let Some(branch) = &thought.branch {
        text.push_str(&format!(" on {}", code(branch)));
    }
    if let Some(revised) = thought.revises {
        text.push_str(&format!(", revises {revised}"));
    }
    if thought.parents.len() > 1 {
        let parents: Vec<_> = thought.parents.iter().map(ToString::to_string).collect();
        text.push_str(&format!(", follows {}", parents.join(" and ")));
    }
    text
}

/// Returns a text on one line as a code span, which it cannot end.
fn code(text: &str) -> String {
    let text = OneLine::new(text).to_string();
    match (text.trim(), longest_run(&text)) {
        ("", _) => "` `".to_owned(),
        (text, 0) => format!("`{text}`"),
        (text, run) => {
            let fence = "`".repeat(run.saturating_add(1));
            format!("{fence} {text} {fence}")
        }
    }
}

/// Returns a text as a code block, which it cannot end.
fn block(text: &str) -> String {
    let text = MultiLine::new(text).to_string();
    let fence = "`".repeat(longest_run(&text).saturating_add(1).max(3));
    format!("{fence}text\n{text}\n{fence}")
}

/// Returns the length of the longest run of backticks.
fn longest_run(text: &str) -> usize {
    let runs = text.split(|character| character != '`').map(str::len);
    runs.max().unwrap_or(0)
}
