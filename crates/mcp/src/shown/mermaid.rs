//! Sessions as Mermaid flowcharts. Texts of models are labels, which they can't end.

use std::collections::HashSet;
use std::fmt;

use cogwork_text::{MermaidLabel, OneLine};

use super::{Shown, ShownThought};

/// The maximum number of thoughts in a drawing.
const THOUGHTS: usize = 200;

/// The maximum number of edges. Mermaid refuses drawings with more than 500.
const EDGES: usize = 480;

/// The maximum length of a drawing, in bytes. Mermaid draws up to 50,000 characters by default.
const BYTES: usize = 48_000;

/// The maximum number of characters of a label.
const LABEL: usize = 60;

/// The maximum number of characters of a text.
const TEXT: usize = 120;

/// Draws the newest thoughts of a session, without a newline at the end.
pub(crate) fn session(shown: &Shown) -> String {
    let thoughts = shown.thoughts.len();
    let mut first = 0;
    loop {
        let (drawing, drawn) = from(shown, first);
        let missing = thoughts.saturating_sub(first).saturating_sub(drawn);
        if missing == 0 {
            return drawing.finish(shown.answer.as_deref());
        }
        first = first.saturating_add(missing);
    }
}

/// Draws thoughts from one of them on. Returns the number of those that fit.
fn from(shown: &Shown, first: usize) -> (Drawing, usize) {
    let older = shown.older.saturating_add(in_u64(first));
    let mut drawing = Drawing::new(&title(shown, older), BYTES);

    let thoughts = shown.thoughts.iter().skip(first);
    let drawn = thoughts.take_while(|thought| drawing.add(thought)).count();
    (drawing, drawn)
}

fn title(shown: &Shown, older: u64) -> String {
    let title = OneLine::new(&shown.title).with_max_chars(TEXT);
    match older {
        0 => title.to_string(),
        1 => format!("{title}\n(1 older thought isn't shown)"),
        _ => format!("{title}\n({older} older thoughts aren't shown)"),
    }
}

/// A drawing of a session. A thought is drawn after those that it follows.
pub(crate) struct Drawing {
    text: String,
    max_bytes: usize,
    edges: usize,
    drawn: HashSet<u64>,
    last: Option<u64>,
}

impl Drawing {
    /// Begins a drawing of at most this many bytes, which starts with the problem.
    pub(crate) fn new(problem: &str, max_bytes: usize) -> Self {
        let mut text = "flowchart TD".to_owned();
        text.push_str(&node("problem", ["([", "])"], problem));
        Self {
            text,
            max_bytes: max_bytes.min(BYTES),
            edges: 0,
            drawn: HashSet::new(),
            last: None,
        }
    }

    /// Draws a thought, unless the drawing is full. Returns whether it was drawn. The first one
    /// always is.
    pub(crate) fn add(&mut self, thought: &ShownThought) -> bool {
        let number = thought.number;
        let id = format!("t{number}");
        let mut part = node(&id, ["[", "]"], &label(thought));
        let edges = self.edges_of(thought);
        edges.iter().for_each(|edge| part.push_str(edge));

        let bytes = self.text.len().saturating_add(part.len());
        let is_full = self.drawn.len() >= THOUGHTS || bytes > self.max_bytes;
        if is_full && !self.drawn.is_empty() {
            return false;
        }

        self.text.push_str(&part);
        self.edges = self.edges.saturating_add(edges.len());
        self.drawn.insert(number);
        self.last = Some(number);
        true
    }

    /// Returns the drawing, with the answer if there is one.
    pub(crate) fn finish(mut self, answer: Option<&str>) -> String {
        let Some(answer) = answer else {
            return self.text;
        };

        let label = OneLine::new(answer).with_max_chars(TEXT).to_string();
        self.text.push_str(&node("answer", ["[[", "]]"], &label));
        if let Some(last) = self.last {
            self.text
                .push_str(&line(format_args!("t{last} --> answer")));
        }
        self.text
    }

    /// Returns the edges to the thoughts that this one follows and revises. If there are too many,
    /// only the first one is drawn.
    fn edges_of(&self, thought: &ShownThought) -> Vec<String> {
        let number = thought.number;
        let parents = thought.parents.iter();
        let parents = parents.filter(|parent| self.drawn.contains(parent));
        let mut edges: Vec<String> = parents
            .map(|parent| line(format_args!("t{parent} --> t{number}")))
            .collect();

        if edges.is_empty() {
            edges.push(line(format_args!("problem --> t{number}")));
        }
        if let Some(revised) = thought
            .revises
            .filter(|revised| self.drawn.contains(revised))
        {
            edges.push(line(format_args!("t{number} -. revises .-> t{revised}")));
        }

        // Each further thought needs one.
        let kept = THOUGHTS.saturating_sub(self.drawn.len());
        let left = EDGES.saturating_sub(self.edges).saturating_sub(kept);
        edges.truncate(left.max(1));
        edges
    }
}

fn label(thought: &ShownThought) -> String {
    let number = thought.number;
    let label = OneLine::new(&thought.label).with_max_chars(LABEL);
    let branch = thought.branch.as_ref();
    let branch = branch.map(|branch| format!(" on {}", OneLine::new(branch).with_max_chars(LABEL)));
    let text = OneLine::new(&thought.text).with_max_chars(TEXT);
    format!("{number}. {label}{}\n{text}", branch.unwrap_or_default())
}

fn node(id: &str, [open, close]: [&str; 2], label: &str) -> String {
    let label = MermaidLabel(label);
    line(format_args!("{id}{open}\"{label}\"{close}"))
}

fn line(line: fmt::Arguments<'_>) -> String {
    format!("\n    {line}")
}

fn in_u64(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}
