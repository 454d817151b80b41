use std::fmt;

use cogwork_text::MermaidLabel;

use super::counts::{Counts, Mark, Stop};
use super::draw::{Drawing, Language, Pen};
use super::parts::{Edge, Figure, FlowId};
use crate::wiring::{Inside, Wiring};

/// A flow as a Mermaid flowchart, written by `Display`.
///
/// Created by [`Flow::mermaid`](crate::Flow::mermaid) and
/// [`Visits::mermaid`](crate::Visits::mermaid). Subflows, items and branches are boxes around their
/// nodes. Names and labels are escaped.
///
/// By default, Mermaid refuses texts of more than 50,000 characters and more than 500 edges; its
/// settings `maxTextSize` and `maxEdges` raise these limits. Mermaid 11 cannot lay out 50 nested
/// boxes; [`Graphviz`](crate::Graphviz) can.
#[derive(Debug, Clone, Copy)]
pub struct Mermaid<'f>(Drawing<'f>);

impl<'f> Mermaid<'f> {
    pub(crate) fn new(wiring: &'f Wiring, counts: Option<&'f Counts>) -> Self {
        Self(Drawing::new(wiring, counts))
    }

    fn write_head(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("flowchart TD\n")?;
        if !self.0.has_counts() {
            return Ok(());
        }

        f.write_str("    classDef unvisited opacity:0.5,stroke-dasharray:4\n")?;
        f.write_str("    classDef ended stroke:#080,stroke-width:4px\n")?;
        f.write_str("    classDef paused stroke:#d80,stroke-width:4px\n")?;
        f.write_str("    classDef failed stroke:#c00,stroke-width:4px\n")?;

        match self.0.lost_note() {
            Some(note) => writeln!(f, "    lost>\"{note}\"]"),
            None => Ok(()),
        }
    }

    fn write_class(&self, pen: &mut Pen<'_, '_>, figure: Figure<'_>) -> fmt::Result {
        let Some(Mark { reached, stop, .. }) = self.0.mark(figure) else {
            return Ok(());
        };

        let class = match stop {
            Some(Stop::Ended) => "ended",
            Some(Stop::Paused) => "paused",
            Some(Stop::Failed) => "failed",
            None if !reached => "unvisited",
            None => return Ok(()),
        };

        pen.line(format_args!("class n{} {class}", figure.id))
    }
}

impl Language for Mermaid<'_> {
    fn write_start(&self, pen: &mut Pen<'_, '_>, flow: FlowId, start: Figure<'_>) -> fmt::Result {
        let arrow = arrow(self.0.mark(start).map(|mark| mark.reached));
        pen.line(format_args!("start{flow}(( )) {arrow} n{}", start.id))
    }

    fn write_node(&self, pen: &mut Pen<'_, '_>, figure: Figure<'_>) -> fmt::Result {
        let id = figure.id;
        let mark = self.0.mark(figure).unwrap_or_default();
        let text = format_args!("{figure}{mark}");
        let label = MermaidLabel(text);

        match figure.place().map(|place| &place.inside) {
            Some(Inside::Wait { .. }) => pen.line(format_args!("n{id}[/\"{label}\"/]")),
            Some(Inside::Sleep) => pen.line(format_args!("n{id}{{{{\"{label}\"}}}}")),
            Some(Inside::Batch { .. }) => pen.line(format_args!("n{id}[[\"{label}\"]]")),
            _ => pen.line(format_args!("n{id}[\"{label}\"]")),
        }?;

        self.write_class(pen, figure)
    }

    fn open_box(&self, pen: &mut Pen<'_, '_>, figure: Figure<'_>) -> fmt::Result {
        let id = figure.id;
        let mark = self.0.mark(figure).unwrap_or_default();
        let text = format_args!("{figure}{mark}");
        let label = MermaidLabel(text);

        pen.open(format_args!("subgraph n{id}[\"{label}\"]"))
    }

    fn close_box(&self, pen: &mut Pen<'_, '_>, figure: Figure<'_>) -> fmt::Result {
        pen.close(format_args!("end"))?;

        // In Mermaid, a box is only defined after its end.
        self.write_class(pen, figure)
    }

    fn write_edge(&self, pen: &mut Pen<'_, '_>, edge: Edge<'_>) -> fmt::Result {
        let taken = self.0.taken(edge);
        let arrow = arrow(taken.map(|taken| taken.0 > 0));
        let times = taken.unwrap_or_default();
        let text = format_args!("{}{times}", edge.exit.action.as_str());
        let label = MermaidLabel(text);
        let id = edge.from.id;

        match edge.to {
            Some(to) => pen.line(format_args!("n{id} {arrow}|\"{label}\"| n{}", to.id)),
            None => {
                let flow = FlowId(edge.from.inside);
                pen.line(format_args!(
                    "n{id} {arrow}|\"{label}\"| end{flow}(((end)))"
                ))
            }
        }
    }
}

impl fmt::Display for Mermaid<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_head(f)?;
        self.0.write(f, self)
    }
}

fn arrow(taken: Option<bool>) -> &'static str {
    match taken {
        None => "-->",
        Some(true) => "==>",
        Some(false) => "-.->",
    }
}
