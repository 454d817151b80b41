//! A session as a Mermaid flowchart. Texts are labels, which they cannot end.

use cogwork_strategies::{BranchStatus, Session, Thought, ThoughtId};
use cogwork_text::{MermaidLabel, OneLine};

use super::{Export, Exporting};

/// The maximum number of thoughts in a drawing.
const THOUGHTS: usize = 200;

/// The maximum length of a drawing, in bytes. Mermaid draws up to 50,000 characters by default.
const BYTES: usize = 48_000;

/// The maximum number of characters of a text in a drawing.
const TEXT: usize = 60;

pub(super) fn mermaid(exporting: &Exporting<'_>) -> Export {
    let session = exporting.session;
    let most = BYTES.min(exporting.bytes);
    let mut text = "flowchart TD".to_owned();
    let first = exporting.offset;

    if first > 0 {
        text.push_str(&format!("\n    earlier[\"{first} earlier thoughts\"]"));
    }
    for (index, thought) in session.thoughts().iter().enumerate().skip(first) {
        let part = part(session, thought, first);
        let is_full = text.len().saturating_add(part.len()) > most;
        let is_first = index == first;
        if index.saturating_sub(first) >= THOUGHTS || (is_full && !is_first) {
            return Export {
                text,
                next_offset: Some(index),
            };
        }
        text.push_str(&part);
    }

    Export {
        text,
        next_offset: None,
    }
}

/// Returns the node of a thought and the edges that lead to it. Earlier thoughts than the first one
/// are not drawn.
fn part(session: &Session, thought: &Thought, first: usize) -> String {
    let mut part = node(session, thought);
    let id = thought.id();
    let is_drawn = |id: &ThoughtId| usize::try_from(id.get()).is_ok_and(|id| id > first);

    match thought.parent() {
        Some(parent) if is_drawn(&parent) => {
            let label = new_branch(session, thought);
            part.push_str(&format!("\n    t{parent} -->{label} t{id}"));
        }
        Some(_) => part.push_str(&format!("\n    earlier --> t{id}")),
        None => {}
    }
    for parent in thought.parents().skip(1).filter(is_drawn) {
        part.push_str(&format!("\n    t{parent} -->|\"merged\"| t{id}"));
    }
    if let Some(revised) = thought.revises().filter(is_drawn) {
        part.push_str(&format!("\n    t{id} -.->|\"revises\"| t{revised}"));
    }
    part
}

fn node(session: &Session, thought: &Thought) -> String {
    let id = thought.id();
    let stage = MermaidLabel(OneLine::new(thought.stage().name()).with_max_chars(TEXT));
    let text = OneLine::new(thought.text()).with_max_chars(TEXT);
    let text = MermaidLabel(text);

    let branch = session.branch(thought.branch()).ok();
    let is_last = branch.is_some_and(|branch| branch.thoughts().last() == Some(&id));
    let is_end = branch.is_some_and(|branch| branch.status() == BranchStatus::Complete);
    let [open, close] = match thought.parent() {
        _ if is_last && is_end => ["[[", "]]"],
        None => ["([", "])"],
        Some(_) => ["[", "]"],
    };
    format!("\n    t{id}{open}\"{id} {stage}<br/>{text}\"{close}")
}

/// Returns the name of the branch that a thought is the first one of.
fn new_branch(session: &Session, thought: &Thought) -> String {
    let branch = session.branch(thought.branch()).ok();
    match branch {
        Some(branch) if branch.forked_from().is_some() && thought.number() == 1 => {
            let name = MermaidLabel(OneLine::new(branch.name()).with_max_chars(TEXT));
            format!("|\"{name}\"|")
        }
        _ => String::new(),
    }
}
