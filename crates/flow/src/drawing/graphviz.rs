use std::fmt;

use cogwork_text::GraphvizLabel;

use super::counts::{Counts, Mark, Stop};
use super::draw::{Drawing, Language, Pen};
use super::parts::{Edge, Figure, FlowId};
use crate::wiring::{Inside, Wiring};

/// A flow in the DOT language of Graphviz, written by `Display`.
///
/// Created by [`Flow::graphviz`](crate::Flow::graphviz) and
/// [`Visits::graphviz`](crate::Visits::graphviz). Subflows, items and branches are clusters around
/// their nodes, each with its own start and end. Names and labels are escaped.
///
/// ```
/// use cogwork_flow::{Flow, from_fn};
///
/// let flow = Flow::builder("greet")
///     .start("hello")
///     .node("hello", from_fn(|text: &mut String| text.push_str("Hello")))
///     .end("hello", "default")
///     .build()?;
/// assert_eq!(flow.graphviz().to_string(), r#"digraph flow {
///     compound=true
///     node [shape=box]
///     start0 [shape=point, width=0.15]
///     end0 [shape=point, width=0.15, peripheries=2]
///     start0 -> n0 [label=""]
///     n0 [label="hello"]
///     n0 -> end0 [label="default"]
/// }
/// "#);
/// # Ok::<(), cogwork_flow::BuildError>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Graphviz<'f>(Drawing<'f>);

impl<'f> Graphviz<'f> {
    pub(crate) fn new(wiring: &'f Wiring, counts: Option<&'f Counts>) -> Self {
        Self(Drawing::new(wiring, counts))
    }

    fn style(&self, figure: Figure<'_>) -> &'static str {
        let Some(Mark { reached, stop, .. }) = self.0.mark(figure) else {
            return "";
        };

        match stop {
            Some(Stop::Ended) => ", style=solid, penwidth=4, color=\"#008800\", fontcolor=black",
            Some(Stop::Paused) => ", style=solid, penwidth=4, color=\"#dd8800\", fontcolor=black",
            Some(Stop::Failed) => ", style=solid, penwidth=4, color=\"#cc0000\", fontcolor=black",
            None => style(reached),
        }
    }

    /// Returns the style of the edges that lead to a figure.
    fn edge_style(&self, figure: Figure<'_>) -> &'static str {
        let mark = self.0.mark(figure);
        mark.map_or("", |mark| style(mark.reached))
    }

    /// Writes the edges from where the branches part to where they meet.
    fn write_branch(&self, pen: &mut Pen<'_, '_>, figure: Figure<'_>) -> fmt::Result {
        let around = FlowId(figure.inside);
        let branch = FlowId(Some(figure.id));
        let style = self.edge_style(figure);

        pen.line(format_args!(
            "start{around} -> start{branch} [arrowhead=none{style}]"
        ))?;
        pen.line(format_args!(
            "end{branch} -> end{around} [arrowhead=none{style}]"
        ))
    }
}

impl Language for Graphviz<'_> {
    fn write_start(&self, pen: &mut Pen<'_, '_>, flow: FlowId, start: Figure<'_>) -> fmt::Result {
        write_points(pen, flow)?;

        let Point { name, cut } = Point::of("start", "lhead", start);
        let style = self.edge_style(start);
        pen.line(format_args!(
            "start{flow} -> {name} [label=\"\"{cut}{style}]"
        ))
    }

    fn write_node(&self, pen: &mut Pen<'_, '_>, figure: Figure<'_>) -> fmt::Result {
        let id = figure.id;
        let mark = self.0.mark(figure).unwrap_or_default();
        let text = format_args!("{figure}{mark}");
        let label = GraphvizLabel(text);
        let style = self.style(figure);

        let shape = match figure.place().map(|place| &place.inside) {
            Some(Inside::Wait { .. }) => ", shape=parallelogram",
            Some(Inside::Sleep) => ", shape=hexagon",
            Some(Inside::Batch { .. }) => ", shape=box3d",
            _ => "",
        };

        pen.line(format_args!("n{id} [label=\"{label}\"{shape}{style}]"))
    }

    fn open_box(&self, pen: &mut Pen<'_, '_>, figure: Figure<'_>) -> fmt::Result {
        let id = figure.id;
        let mark = self.0.mark(figure).unwrap_or_default();
        let text = format_args!("{figure}{mark}");
        let label = GraphvizLabel(text);
        let style = self.style(figure);

        pen.open(format_args!("subgraph cluster_n{id} {{"))?;
        pen.line(format_args!("graph [label=\"{label}\"{style}]"))?;

        match figure.place().map(|place| &place.inside) {
            // The points where the branches part and meet.
            Some(Inside::Branches(_)) => write_points(pen, FlowId(Some(id))),
            _ => Ok(()),
        }
    }

    fn close_box(&self, pen: &mut Pen<'_, '_>, figure: Figure<'_>) -> fmt::Result {
        pen.close(format_args!("}}"))?;

        if figure.place().is_none() {
            return self.write_branch(pen, figure);
        }

        Ok(())
    }

    fn write_edge(&self, pen: &mut Pen<'_, '_>, edge: Edge<'_>) -> fmt::Result {
        let taken = self.0.taken(edge);
        let times = taken.unwrap_or_default();
        let text = format_args!("{}{times}", edge.exit.action.as_str());
        let label = GraphvizLabel(text);
        let style = taken.map_or("", |taken| style(taken.0 > 0));

        let mut tail = Point::of("end", "ltail", edge.from);
        let mut head = match edge.to {
            Some(to) => Point::of("start", "lhead", to),
            None => Point::end(edge.from),
        };

        if edge.to.is_some_and(|to| to.id == edge.from.id) {
            // An edge from a box to itself cannot be cut.
            tail.cut.clear();
            head.cut.clear();
        }

        pen.line(format_args!(
            "{} -> {} [label=\"{label}\"{}{}{style}]",
            tail.name, head.name, tail.cut, head.cut
        ))
    }
}

impl fmt::Display for Graphviz<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("digraph flow {\n    compound=true\n    node [shape=box]\n")?;
        if let Some(note) = self.0.lost_note() {
            writeln!(f, "    label=\"{note}\"")?;
        }

        self.0.write(f, self)?;
        f.write_str("}\n")
    }
}

/// Where an edge begins or ends.
///
/// An edge cannot meet a box, so it leads to a point inside, and only the part outside the box is
/// drawn.
struct Point {
    name: String,
    /// The attribute that cuts the edge at the box.
    cut: String,
}

impl Point {
    fn of(name: &str, cut: &str, figure: Figure<'_>) -> Self {
        let id = figure.id;

        if figure.is_box() {
            return Self {
                name: format!("{name}_n{id}"),
                cut: format!(", {cut}=cluster_n{id}"),
            };
        }

        Self {
            name: format!("n{id}"),
            cut: String::new(),
        }
    }

    /// Returns the end of the flow that contains a figure.
    fn end(figure: Figure<'_>) -> Self {
        Self {
            name: format!("end{}", FlowId(figure.inside)),
            cut: String::new(),
        }
    }
}

fn write_points(pen: &mut Pen<'_, '_>, flow: FlowId) -> fmt::Result {
    pen.line(format_args!("start{flow} [shape=point, width=0.15]"))?;
    pen.line(format_args!(
        "end{flow} [shape=point, width=0.15, peripheries=2]"
    ))
}

fn style(reached: bool) -> &'static str {
    if reached {
        ", style=solid, penwidth=2, color=black, fontcolor=black"
    } else {
        ", style=dashed, penwidth=1, color=gray, fontcolor=gray"
    }
}
