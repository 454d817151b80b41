use std::fmt::{self, Write};

use cogwork_text::MermaidLabel;

use super::counts::{Counts, Mark, Stop, Times};
use super::figures::{Content, DrawnFlow, Figure};
use crate::wiring::{Exit, Inside, Target, Wiring};

/// A flow as a Mermaid flowchart, written by `Display`.
///
/// Created by [`Flow::mermaid`](crate::Flow::mermaid) and
/// [`Visits::mermaid`](crate::Visits::mermaid). Subflows, items and branches are boxes around their
/// nodes. Names and labels are escaped.
///
/// By default, Mermaid refuses texts of more than 50,000 characters and more than 500 edges; its
/// settings `maxTextSize` and `maxEdges` raise these limits. Mermaid 11 cannot lay out 50 nested
/// boxes.
#[derive(Debug, Clone, Copy)]
pub struct Mermaid<'f> {
    wiring: &'f Wiring,
    counts: Option<&'f Counts>,
}

impl<'f> Mermaid<'f> {
    pub(crate) fn new(wiring: &'f Wiring, counts: Option<&'f Counts>) -> Self {
        Self { wiring, counts }
    }
}

impl fmt::Display for Mermaid<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("flowchart TD\n")?;
        if let Some(counts) = self.counts {
            write_classes(f, counts)?;
        }

        let mut pen = Pen {
            f,
            depth: 1,
            counts: self.counts,
        };
        pen.write_flow(&DrawnFlow::of(self.wiring), FlowId(None))
    }
}

fn write_classes(f: &mut fmt::Formatter<'_>, counts: &Counts) -> fmt::Result {
    f.write_str("    classDef unvisited opacity:0.5,stroke-dasharray:4\n")?;
    f.write_str("    classDef ended stroke:#080,stroke-width:4px\n")?;
    f.write_str("    classDef paused stroke:#d80,stroke-width:4px\n")?;
    f.write_str("    classDef failed stroke:#c00,stroke-width:4px\n")?;

    match counts.lost_note() {
        Some(note) => writeln!(f, "    lost>\"{note}\"]"),
        None => Ok(()),
    }
}

/// Writes the lines of a drawing, indented by the boxes around them.
struct Pen<'a, 'f> {
    f: &'a mut fmt::Formatter<'f>,
    depth: usize,
    counts: Option<&'a Counts>,
}

/// The maximum indentation, which keeps the size of a deep drawing linear.
const MAX_INDENTATION: usize = 8;

impl Pen<'_, '_> {
    fn line(&mut self, line: fmt::Arguments<'_>) -> fmt::Result {
        let width = 4 * self.depth.min(MAX_INDENTATION);
        writeln!(self.f, "{:width$}{line}", "")
    }

    fn mark(&self, figure: &Figure<'_>) -> Option<Mark> {
        Some(self.counts?.mark(figure))
    }

    /// Writes a flow and all flows inside it.
    fn write_flow(&mut self, flow: &DrawnFlow<'_>, id: FlowId) -> fmt::Result {
        let start = flow.figures.iter().find(|figure| figure.id == flow.start);
        let mark = start.and_then(|figure| self.mark(figure));
        let arrow = arrow(mark.map(|mark| mark.reached));
        self.line(format_args!("start{id}(( )) {arrow} n{}", flow.start))?;

        for figure in &flow.figures {
            self.write_figure(figure)?;
        }

        for figure in &flow.figures {
            let exits = figure.place.into_iter().flat_map(|place| &place.exits);
            for (index, exit) in exits.enumerate() {
                let taken = self.counts.map(|counts| counts.taken(figure.id, index));
                self.write_edge(flow, id, figure, exit, taken)?;
            }
        }

        Ok(())
    }

    fn write_figure(&mut self, figure: &Figure<'_>) -> fmt::Result {
        let id = figure.id;
        let mark = self.mark(figure).unwrap_or_default();
        let text = format_args!("{figure}{mark}");
        let label = MermaidLabel(text);

        if figure.is_box() {
            self.line(format_args!("subgraph n{id}[\"{label}\"]"))?;
            self.depth += 1;
            self.write_content(figure)?;
            self.depth -= 1;
            self.line(format_args!("end"))?;
        } else {
            match figure.place.map(|place| &place.inside) {
                Some(Inside::Wait { .. }) => self.line(format_args!("n{id}[/\"{label}\"/]")),
                Some(Inside::Sleep) => self.line(format_args!("n{id}{{{{\"{label}\"}}}}")),
                Some(Inside::Batch { .. }) => self.line(format_args!("n{id}[[\"{label}\"]]")),
                _ => self.line(format_args!("n{id}[\"{label}\"]")),
            }?;
        }

        // In Mermaid, a box is only defined after its end.
        self.write_class(figure)
    }

    fn write_content(&mut self, figure: &Figure<'_>) -> fmt::Result {
        match &figure.content {
            Content::Nothing => Ok(()),
            Content::Flow(flow) => self.write_flow(flow, FlowId(Some(figure.id))),
            Content::Branches(branches) => branches
                .iter()
                .try_for_each(|branch| self.write_figure(branch)),
        }
    }

    fn write_class(&mut self, figure: &Figure<'_>) -> fmt::Result {
        let Some(Mark { reached, stop, .. }) = self.mark(figure) else {
            return Ok(());
        };

        let class = match stop {
            Some(Stop::Ended) => "ended",
            Some(Stop::Paused) => "paused",
            Some(Stop::Failed) => "failed",
            None if !reached => "unvisited",
            None => return Ok(()),
        };

        self.line(format_args!("class n{} {class}", figure.id))
    }

    /// Writes an edge, unless it is a hidden one that no run has taken.
    fn write_edge(
        &mut self,
        flow: &DrawnFlow<'_>,
        flow_id: FlowId,
        from: &Figure<'_>,
        exit: &Exit,
        taken: Option<Times>,
    ) -> fmt::Result {
        let is_taken = taken.map(|taken| taken.0 > 0);
        if exit.is_hidden && is_taken != Some(true) {
            return Ok(());
        }

        let id = from.id;
        let arrow = arrow(is_taken);
        let times = taken.unwrap_or_default();
        let text = format_args!("{}{times}", exit.action.as_str());
        let label = MermaidLabel(text);

        match exit.target {
            Target::Node(index) => {
                let to = flow.first + index;
                self.line(format_args!("n{id} {arrow}|\"{label}\"| n{to}"))
            }
            Target::End => self.line(format_args!(
                "n{id} {arrow}|\"{label}\"| end{flow_id}(((end)))"
            )),
        }
    }
}

fn arrow(taken: Option<bool>) -> &'static str {
    match taken {
        None => "-->",
        Some(true) => "==>",
        Some(false) => "-.->",
    }
}

/// Identifies the start and the end of a flow by the box around it.
#[derive(Clone, Copy)]
struct FlowId(Option<usize>);

impl fmt::Display for FlowId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            None => f.write_char('0'),
            Some(id) => write!(f, "_n{id}"),
        }
    }
}
