//! Writes collections in flow style as lines in block style.

use super::flow_node::{Node, Scalar};
use super::lines::Line;
use super::text::in_quotes;
use crate::reply::keys::{self, Key};

/// The maximum growth of a block in block style, beyond [`LEAST_ROOM`]. Each item is indented to
/// the column of its list, so a list with deep indentation could otherwise grow quadratically.
const MAX_GROWTH: usize = 16;
/// The number of bytes that every block may take in block style.
const LEAST_ROOM: usize = 64 * 1024;

/// The lines of a block in block style.
pub(super) struct Output<'t> {
    lines: Vec<Line<'t>>,
    /// The remaining budget, in bytes and columns.
    room: usize,
    is_blank: bool,
}

impl<'t> Output<'t> {
    pub(super) fn for_source(source: &str, lines: usize) -> Self {
        let room = source
            .len()
            .saturating_mul(MAX_GROWTH)
            .saturating_add(LEAST_ROOM);
        Self {
            lines: Vec::with_capacity(lines),
            room,
            is_blank: true,
        }
    }

    pub(super) fn push(&mut self, line: Line<'t>) {
        self.is_blank = self.is_blank && line.is_blank();
        self.lines.push(line);
    }

    /// Adds the rest of the last line of a collection.
    pub(super) fn push_rest(&mut self, line: &Line<'_>, rest: &str) {
        let rest = rest.trim_start().trim_start_matches(',').trim_end();

        if !rest.is_empty() {
            self.push(Line::made(line.number, line.indent, rest.to_owned()));
        }
    }

    /// Returns whether nothing has been written yet.
    pub(super) fn is_blank(&self) -> bool {
        self.is_blank
    }

    pub(super) fn into_lines(self) -> Vec<Line<'t>> {
        self.lines
    }

    /// Writes a line. Returns `None` if there is not enough room for it.
    fn write(&mut self, number: usize, column: usize, text: String) -> Option<()> {
        let taken = column.saturating_add(text.len());

        self.room = self.room.checked_sub(taken)?;
        self.push(Line::made(number, column, text));
        Some(())
    }
}

/// Writes collections. Its methods return `None` if there is not enough room.
pub(super) struct Writer<'o, 't, 's> {
    out: &'o mut Output<'t>,
    source: &'s str,
}

impl<'o, 't, 's> Writer<'o, 't, 's> {
    pub(super) fn new(out: &'o mut Output<'t>, source: &'s str) -> Self {
        Self { out, source }
    }

    /// Writes the pairs of the outermost mapping.
    pub(super) fn top(&mut self, node: &Node) -> Option<()> {
        match node {
            Node::Map { pairs, .. } => self.pairs(0, pairs),
            _ => Some(()),
        }
    }

    fn pairs(&mut self, column: usize, pairs: &[(Scalar, Node)]) -> Option<()> {
        pairs.iter().try_for_each(|(key, value)| {
            self.after(key.line, column, &format!("{}:", key.text), value)
        })
    }

    /// Writes a value after a key or a dash.
    pub(super) fn after(
        &mut self,
        number: usize,
        column: usize,
        before: &str,
        value: &Node,
    ) -> Option<()> {
        let indent = if before.starts_with('-') {
            column.saturating_sub(2)
        } else {
            column
        };

        match value {
            Node::Scalar(scalar) => {
                let text = if scalar.quoted {
                    in_quotes(&scalar.text)
                } else {
                    scalar.text.clone()
                };
                self.out.write(
                    number,
                    indent,
                    format!("{before} {text}").trim_end().to_owned(),
                )
            }
            Node::Seq { span, .. } | Node::Map { span, .. } if !takes_list(before) => {
                self.verbatim(number, indent, before, *span)
            }
            Node::Seq { items, .. } if items.is_empty() => {
                self.out.write(number, indent, format!("{before} []"))
            }
            Node::Map { pairs, .. } if pairs.is_empty() => {
                self.out.write(number, indent, format!("{before} {{}}"))
            }
            Node::Seq { items, .. } => {
                self.out.write(number, indent, before.to_owned())?;
                items
                    .iter()
                    .try_for_each(|item| self.item(column + 2, item))
            }
            Node::Map { pairs, .. } if before == "-" => self.item_pairs(number, indent, pairs),
            Node::Map { pairs, .. } => {
                self.out.write(number, indent, before.to_owned())?;
                self.pairs(column + 2, pairs)
            }
        }
    }

    /// Writes a collection unchanged, where a text is expected.
    fn verbatim(
        &mut self,
        number: usize,
        column: usize,
        before: &str,
        span: (usize, usize),
    ) -> Option<()> {
        let text = self
            .source
            .get(span.0..span.1)
            .unwrap_or_default()
            .replace('\n', " ");
        self.out.write(number, column, format!("{before} {text}"))
    }

    fn item(&mut self, column: usize, item: &Node) -> Option<()> {
        match item {
            Node::Map { line, pairs, .. } => self.item_pairs(*line, column, pairs),
            Node::Scalar(scalar) => self.after(scalar.line, column + 2, "-", item),
            // The items of a nested list are added to the outer list.
            Node::Seq { items, .. } => items.iter().try_for_each(|item| self.item(column, item)),
        }
    }

    fn item_pairs(&mut self, line: usize, column: usize, pairs: &[(Scalar, Node)]) -> Option<()> {
        let Some(((key, value), rest)) = pairs.split_first() else {
            return self.out.write(line, column, "-".to_owned());
        };

        self.after(line, column + 2, &format!("- {}:", key.text), value)?;
        self.pairs(column + 2, rest)
    }
}

/// Returns whether a list may follow a key or a dash.
fn takes_list(before: &str) -> bool {
    let key = before.trim_start_matches("- ");

    let known = keys::top(key).or_else(|| keys::step(key));
    known.is_none_or(|found| matches!(found.key, Key::Planning | Key::SubSteps))
}
