//! Some thoughts of a session, within bounds.

use std::fmt;

use cogwork_strategies::{Branch, BranchId, Session, Thought};
use cogwork_text::{MultiLine, Name, OneLine};
use cogwork_tools::schemars::{self, JsonSchema};
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// The maximum number of bytes of the thoughts on a page, unless a single one is longer.
const BYTES: usize = 64 * 1024;

/// The number of thoughts on a page by default.
const LIMIT: u32 = 20;

/// Which thoughts to show.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
pub(crate) struct Window {
    /// How many thoughts or sessions to skip.
    offset: Option<u32>,
    /// How many thoughts or sessions to list. At most 100.
    #[schemars(range(min = 1, max = 100))]
    limit: Option<u32>,
    #[serde(skip)]
    bytes: Option<usize>,
}

impl Window {
    /// The last thoughts, for a model that resumes a session.
    pub(crate) const RECENT: Self = Self {
        offset: None,
        limit: Some(5),
        bytes: Some(8 * 1024),
    };
}

pub(crate) fn size(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// Some thoughts.
pub(crate) struct Page<'s> {
    session: &'s Session,
    thoughts: Vec<&'s Thought>,
    offset: usize,
    total: usize,
}

impl<'s> Page<'s> {
    /// Returns thoughts of all branches, or those on the path of one.
    pub(crate) fn new(session: &'s Session, branch: Option<BranchId>, window: Window) -> Self {
        let all: Vec<&Thought> = match branch {
            None => session.thoughts().iter().collect(),
            Some(branch) => {
                let tip = session.branch(branch).ok().and_then(Branch::tip);
                let mut path: Vec<&Thought> = session.path(tip).collect();
                path.reverse();
                path
            }
        };

        let total = all.len();
        let (offset, thoughts) = match window.offset {
            Some(offset) => {
                let offset = size(offset);
                let after = all.into_iter().skip(offset);
                (offset.min(total), fitting(after, window))
            }
            None => {
                let mut last = fitting(all.into_iter().rev(), window);
                last.reverse();
                (total.saturating_sub(last.len()), last)
            }
        };

        Self {
            session,
            thoughts,
            offset,
            total,
        }
    }

    fn next_offset(&self) -> Option<usize> {
        let next = self.offset.saturating_add(self.thoughts.len());
        (next < self.total).then_some(next)
    }

    /// Returns the fields of the page.
    pub(crate) fn fields(&self) -> Map<String, Value> {
        let thoughts = self.thoughts.iter().map(|thought| json!(thought));
        let fields = [
            ("page", Some(Value::Array(thoughts.collect()))),
            ("offset", Some(json!(self.offset))),
            ("total", Some(json!(self.total))),
            ("nextOffset", self.next_offset().map(|next| json!(next))),
        ];
        let fields = fields.into_iter();
        fields
            .filter_map(|(name, value)| Some((name.to_owned(), value?)))
            .collect()
    }
}

/// Returns the first thoughts that fit into a window, at least one.
fn fitting<'s>(thoughts: impl Iterator<Item = &'s Thought>, window: Window) -> Vec<&'s Thought> {
    let mut left = window.bytes.unwrap_or(BYTES);
    let mut fitting = Vec::new();

    for thought in thoughts.take(size(window.limit.unwrap_or(LIMIT))) {
        let bytes = bytes(thought);
        if bytes > left && !fitting.is_empty() {
            break;
        }
        left = left.saturating_sub(bytes);
        fitting.push(thought);
    }
    fitting
}

/// Returns the length of a thought as JSON.
fn bytes(thought: &Thought) -> usize {
    serde_json::to_string(thought).map_or(0, |json| json.len())
}

impl fmt::Display for Page<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let first = self.offset.saturating_add(1);
        let last = self.offset.saturating_add(self.thoughts.len());
        match self.thoughts[..] {
            [] => write!(f, "No thoughts of {}.", self.total)?,
            _ => write!(f, "Thoughts {first} to {last} of {}:", self.total)?,
        }

        for thought in &self.thoughts {
            write_thought(f, self.session, thought)?;
        }
        if let Some(next) = self.next_offset() {
            write!(f, "\nMore from the offset {next}.")?;
        }
        Ok(())
    }
}

fn write_thought(f: &mut fmt::Formatter<'_>, session: &Session, thought: &Thought) -> fmt::Result {
    let id = thought.id();
    let stage = Name(thought.stage());
    let branch = session.branch(thought.branch());
    let branch = branch.map_or("", |branch| branch.name());
    write!(f, "\n{id}. `{stage}` on `{}`", Name(branch))?;

    if let Some(revised) = thought.revises() {
        write!(f, ", revises {revised}")?;
    }
    if thought.merged().is_some() {
        let parents: Vec<String> = thought.parents().map(|parent| parent.to_string()).collect();
        write!(f, ", merges {}", parents.join(", "))?;
    }

    let text = MultiLine::new(thought.text()).to_string();
    for line in text.lines() {
        write!(f, "\n   {line}")?;
    }
    for (name, value) in thought.parameters() {
        write!(f, "\n   {}: {}", Name(name), OneLine::new(value))?;
    }
    Ok(())
}
