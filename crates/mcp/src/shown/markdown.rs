//! Sessions as Markdown. Texts of models are code, so that they can't contain headings, links or
//! images.

use std::fmt;

use cogwork_text::{MultiLine, OneLine};

use super::{Shown, ShownThought};

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
        text.push_str(&section(&Block(answer)));
    }
    text
}

/// Returns what comes before the thoughts.
pub(crate) fn head(shown: &Shown) -> String {
    let title = OneLine::new(&shown.title).with_max_chars(TITLE).to_string();
    let mut text = format!("# {}\n", Code(&title));

    let facts = shown.facts.iter();
    let facts = facts.map(|(name, value)| format!("- {name}: {}", Code(value)));
    let facts: Vec<_> = facts.collect();
    text.push_str(&section(&facts.join("\n")));

    if let Some(problem) = &shown.problem {
        text.push_str(&section("## Problem"));
        text.push_str(&section(&Block(problem)));
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
pub(crate) fn thought(thought: &ShownThought) -> String {
    let mut text = section(&Heading(thought));
    text.push_str(&section(&Block(&thought.text)));

    if !thought.details.is_empty() {
        let details = thought.details.iter();
        let details = details.map(|(name, value)| format!("- {}: {}", Code(name), Code(value)));
        let details: Vec<_> = details.collect();
        text.push_str(&section(&details.join("\n")));
    }
    text
}

fn section(section: &(impl fmt::Display + ?Sized)) -> String {
    format!("\n{section}\n")
}

struct Heading<'a>(&'a ShownThought);

impl fmt::Display for Heading<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let thought = self.0;
        write!(f, "## {}. {}", thought.number, Code(&thought.label))?;

        if let Some(strategy) = &thought.strategy {
            write!(f, " of {}", Code(strategy))?;
        }
        if let Some(branch) = &thought.branch {
            write!(f, " on {}", Code(branch))?;
        }
        if let Some(revised) = thought.revises {
            write!(f, ", revises {revised}")?;
        }
        if thought.parents.len() > 1 {
            let parents = thought.parents.iter().map(ToString::to_string);
            let parents: Vec<_> = parents.collect();
            write!(f, ", follows {}", parents.join(" and "))?;
        }
        Ok(())
    }
}

/// A text on one line as a code span, which it cannot end.
struct Code<'a>(&'a str);

impl fmt::Display for Code<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = OneLine::new(self.0).to_string();
        let text = text.trim();
        let run = longest_run(text);
        match (text, run) {
            ("", _) => f.write_str("` `"),
            (_, 0) => write!(f, "`{text}`"),
            _ => {
                let fence = "`".repeat(run.saturating_add(1));
                write!(f, "{fence} {text} {fence}")
            }
        }
    }
}

/// A text as a code block, which it cannot end.
struct Block<'a>(&'a str);

impl fmt::Display for Block<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = MultiLine::new(self.0).to_string();
        let fence = "`".repeat(longest_run(&text).saturating_add(1).max(3));
        write!(f, "{fence}text\n{text}\n{fence}")
    }
}

/// Returns the length of the longest run of backticks.
fn longest_run(text: &str) -> usize {
    let runs = text.split(|character| character != '`').map(str::len);
    runs.max().unwrap_or(0)
}
