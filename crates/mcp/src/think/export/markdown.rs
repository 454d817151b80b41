//! A session as Markdown. Texts are in code blocks, which they cannot end.

use std::fmt::{self, Write};

use cogwork_strategies::{Branch, Session, Thought};
use cogwork_text::{MultiLine, OneLine};

use super::{Export, Exporting};

/// The maximum number of branches that are listed.
const BRANCHES: usize = 100;

/// The maximum number of characters of a title.
const TITLE: usize = 200;

pub(super) fn markdown(exporting: &Exporting<'_>) -> Export {
    let mut text = head(exporting);
    let total = exporting.session.thoughts().len();
    let thoughts = exporting.session.thoughts().iter().enumerate();

    for (index, thought) in thoughts.skip(exporting.offset) {
        let section = section(exporting.session, thought);
        let is_first = index == exporting.offset;
        if !is_first && text.len().saturating_add(section.len()) > exporting.bytes {
            let more = total.saturating_sub(index);
            let note = format!("\n{more} more thoughts from the offset {index}.\n");
            text.push_str(&note);
            return Export {
                text,
                next_offset: Some(index),
            };
        }
        text.push_str(&section);
    }

    Export {
        text,
        next_offset: None,
    }
}

fn head(exporting: &Exporting<'_>) -> String {
    let Exporting {
        id,
        purpose,
        session,
        ..
    } = exporting;
    let title = match purpose.trim() {
        "" => "Session",
        purpose => purpose,
    };
    let title = Plain(title);
    let strategy = Code(session.strategy().name());

    let branches = session.branches().iter().take(BRANCHES).map(branch);
    let branches: String = branches.collect();
    let more = session.branches().len().saturating_sub(BRANCHES);
    let more = match more {
        0 => String::new(),
        more => format!("- {more} more\n"),
    };
    format!(
        "# {title}\n\nSession `{id}`, which began with the strategy {strategy}.\n\nBranches:\n\n\
         {branches}{more}"
    )
}

fn branch(branch: &Branch) -> String {
    let name = Code(branch.name());
    let status = branch.status();
    let thoughts = match branch.thoughts().len() {
        1 => "1 thought".to_owned(),
        more => format!("{more} thoughts"),
    };

    let from = branch.forked_from();
    let from = from.map_or_else(String::new, |from| format!(", from thought {from}"));
    let score = branch.score();
    let score = score.map_or_else(String::new, |score| format!(", score {score}"));
    format!("- {name}: {status}, {thoughts}{from}{score}\n")
}

fn section(session: &Session, thought: &Thought) -> String {
    let mut section = String::new();
    // Writing to a text cannot fail.
    let _ = write_section(&mut section, session, thought);
    section
}

fn write_section(out: &mut String, session: &Session, thought: &Thought) -> fmt::Result {
    let id = thought.id();
    let stage = Code(thought.stage().name());
    let strategy = Code(thought.strategy().name());
    let branch = session.branch(thought.branch());
    let branch = Code(branch.map_or("", |branch| branch.name()));

    write!(out, "\n## {id}. {stage}\n\n")?;
    write!(out, "Strategy {strategy}, branch {branch}")?;
    if let Some(revised) = thought.revises() {
        write!(out, ", revises {revised}")?;
    }
    if thought.merged().is_some() {
        let parents: Vec<String> = thought.parents().map(|parent| parent.to_string()).collect();
        write!(out, ", merges {}", parents.join(", "))?;
    }
    if thought.is_forgotten() {
        write!(out, ", forgotten")?;
    }

    write!(out, ".\n\n{}\n", Block(thought.text()))?;

    for (index, (name, value)) in thought.parameters().enumerate() {
        let gap = if index == 0 { "\n" } else { "" };
        let value = value.to_string();
        writeln!(out, "{gap}- {}: {}", Code(name), Code(&value))?;
    }
    Ok(())
}

/// A title in which no character has a meaning in Markdown.
struct Plain<'a>(&'a str);

impl fmt::Display for Plain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = OneLine::new(self.0).with_max_chars(TITLE).to_string();
        text.chars().try_for_each(|character| {
            if character.is_ascii_punctuation() {
                f.write_char('\\')?;
            }
            f.write_char(character)
        })
    }
}

/// A code span, which its text cannot end.
struct Code<'a>(&'a str);

impl fmt::Display for Code<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = OneLine::new(self.0).to_string();
        let fence = "`".repeat(longest_run(&text).saturating_add(1));
        let is_plain = fence.len() == 1 && !text.is_empty();
        let space = if is_plain { "" } else { " " };
        write!(f, "{fence}{space}{text}{space}{fence}")
    }
}

/// A code block, which its text cannot end.
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
