use std::fmt;

use super::counts::{Counts, Mark, Times};
use super::parts::{Edge, Figure, FlowId, Part, Parts};
use crate::wiring::Wiring;

/// A flow to draw, with the counts of its visits if there are any.
#[derive(Debug, Clone, Copy)]
pub(super) struct Drawing<'f> {
    wiring: &'f Wiring,
    counts: Option<&'f Counts>,
}

/// A language for drawings.
pub(super) trait Language {
    /// Writes the start of a flow and the edge to its first node.
    fn write_start(&self, pen: &mut Pen<'_, '_>, flow: FlowId, start: Figure<'_>) -> fmt::Result;

    fn write_node(&self, pen: &mut Pen<'_, '_>, figure: Figure<'_>) -> fmt::Result;

    fn open_box(&self, pen: &mut Pen<'_, '_>, figure: Figure<'_>) -> fmt::Result;

    fn close_box(&self, pen: &mut Pen<'_, '_>, figure: Figure<'_>) -> fmt::Result;

    fn write_edge(&self, pen: &mut Pen<'_, '_>, edge: Edge<'_>) -> fmt::Result;
}

impl<'f> Drawing<'f> {
    pub(super) fn new(wiring: &'f Wiring, counts: Option<&'f Counts>) -> Self {
        Self { wiring, counts }
    }

    /// Writes the flow and all flows inside it, between the head and the end of a document.
    pub(super) fn write(self, f: &mut fmt::Formatter<'_>, language: &impl Language) -> fmt::Result {
        let mut pen = Pen { f, depth: 1 };

        for part in Parts::of(self.wiring) {
            match part {
                Part::Flow { inside, start } => {
                    language.write_start(&mut pen, FlowId(inside), start)?
                }
                Part::Node(figure) => language.write_node(&mut pen, figure)?,
                Part::Box(figure) => language.open_box(&mut pen, figure)?,
                Part::Close(figure) => language.close_box(&mut pen, figure)?,
                Part::Edge(edge) if self.is_hidden(edge) => {}
                Part::Edge(edge) => language.write_edge(&mut pen, edge)?,
            }
        }

        Ok(())
    }

    pub(super) fn has_counts(self) -> bool {
        self.counts.is_some()
    }

    /// Returns the note on events that were lost, if any were.
    pub(super) fn lost_note(self) -> Option<String> {
        self.counts?.lost_note()
    }

    pub(super) fn mark(self, figure: Figure<'_>) -> Option<Mark> {
        Some(self.counts?.mark(figure))
    }

    /// Returns whether an edge is omitted: it is a hidden one that no run has taken.
    fn is_hidden(self, edge: Edge<'_>) -> bool {
        let is_taken = self.taken(edge).is_some_and(|taken| taken.0 > 0);
        edge.exit.is_hidden && !is_taken
    }

    /// Returns how often an edge was taken.
    pub(super) fn taken(self, edge: Edge<'_>) -> Option<Times> {
        Some(self.counts?.taken(edge.from.id, edge.index))
    }
}

/// Writes indented lines.
pub(super) struct Pen<'a, 'f> {
    f: &'a mut fmt::Formatter<'f>,
    depth: usize,
}

/// The maximum indentation, which keeps the size of a deep drawing linear.
const MAX_DEPTH: usize = 8;

impl Pen<'_, '_> {
    pub(super) fn line(&mut self, line: fmt::Arguments<'_>) -> fmt::Result {
        let width = 4 * self.depth.min(MAX_DEPTH);
        writeln!(self.f, "{:width$}{line}", "")
    }

    /// Writes a line and indents the lines after it.
    pub(super) fn open(&mut self, line: fmt::Arguments<'_>) -> fmt::Result {
        self.line(line)?;
        self.depth += 1;
        Ok(())
    }

    /// Writes a line that ends what `open` began.
    pub(super) fn close(&mut self, line: fmt::Arguments<'_>) -> fmt::Result {
        self.depth -= 1;
        self.line(line)
    }
}
