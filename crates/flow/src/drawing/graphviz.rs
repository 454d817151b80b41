use std::fmt;

use cogwork_text::GraphvizLabel;

use super::counts::{Counts, Mark, Stop};
use super::parts::{Figure, FlowId, Part, Parts, write_line};
use crate::wiring::{Exit, Inside, Wiring};

/// A flow in the DOT language of Graphviz, written by `Display`; made by
/// [`Flow::graphviz`](crate::Flow::graphviz) and [`Visits::graphviz`](crate::Visits::graphviz).
///
/// Subflows, items and branches are clusters around their nodes, each with a start and an end of its
/// own. Names and labels are escaped, so any text is drawn as it is.
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
pub struct Graphviz<'f> {
    wiring: &'f Wiring,
    counts: Option<&'f Counts>,
}

impl<'f> Graphviz<'f> {
    pub(crate) fn new(wiring: &'f Wiring, counts: Option<&'f Counts>) -> Self {
        Self { wiring, counts }
    }

    fn style(&self, figure: Figure<'_>) -> &'static str {
        match self.counts.map(|counts| counts.mark(figure)) {
            None => "",
            Some(Mark {
                stop: Some(stop), ..
            }) => match stop {
                Stop::Ended => ", style=solid, penwidth=4, color=\"#008800\", fontcolor=black",
                Stop::Paused => ", style=solid, penwidth=4, color=\"#dd8800\", fontcolor=black",
                Stop::Failed => ", style=solid, penwidth=4, color=\"#cc0000\", fontcolor=black",
            },
            Some(mark) => style(mark.reached),
        }
    }

    fn write_figure(
        &self,
        f: &mut fmt::Formatter<'_>,
        depth: usize,
        figure: Figure<'_>,
    ) -> fmt::Result {
        let id = figure.id;
        let mark = self
            .counts
            .map(|counts| counts.mark(figure))
            .unwrap_or_default();
        let text = format_args!("{figure}{mark}");
        let label = GraphvizLabel(text);
        let style = self.style(figure);
        let form = match figure.place().map(|place| &place.inside) {
            Some(Inside::Node) => "",
            Some(Inside::Wait { .. }) => ", shape=parallelogram",
            Some(Inside::Sleep) => ", shape=hexagon",
            Some(Inside::Batch { .. }) => ", shape=box3d",
            inside => {
                write_line(f, depth, format_args!("subgraph cluster_n{id} {{"))?;
                write_line(
                    f,
                    depth + 1,
                    format_args!("graph [label=\"{label}\"{style}]"),
                )?;

                return match inside {
                    // The points where the branches part and meet.
                    Some(Inside::Branches(_)) => write_points(f, depth + 1, Some(id)),
                    _ => Ok(()),
                };
            }
        };

        write_line(
            f,
            depth,
            format_args!("n{id} [label=\"{label}\"{form}{style}]"),
        )
    }

    /// Each branch leads from where they part to where they meet.
    fn write_branch(
        &self,
        f: &mut fmt::Formatter<'_>,
        depth: usize,
        figure: Figure<'_>,
    ) -> fmt::Result {
        let around = FlowId(figure.inside);
        let branch = FlowId(Some(figure.id));
        let style = self
            .counts
            .map_or("", |counts| style(counts.mark(figure).reached));
        write_line(
            f,
            depth,
            format_args!("start{around} -> start{branch} [arrowhead=none{style}]"),
        )?;

        write_line(
            f,
            depth,
            format_args!("end{branch} -> end{around} [arrowhead=none{style}]"),
        )
    }

    fn write_edge(
        &self,
        f: &mut fmt::Formatter<'_>,
        depth: usize,
        (from, exit, index): (Figure<'_>, &Exit, usize),
        to: Option<Figure<'_>>,
    ) -> fmt::Result {
        let taken = self.counts.map(|counts| counts.taken(from.id, index));
        let times = taken.unwrap_or_default();
        let text = format_args!("{}{times}", exit.action.as_str());
        let label = GraphvizLabel(text);
        let style = taken.map_or("", |taken| style(taken.0 > 0));
        let (tail, mut ltail) = point("end", "ltail", from);
        let (head, mut lhead) = match to {
            Some(to) => point("start", "lhead", to),
            None => (format!("end{}", FlowId(from.inside)), String::new()),
        };

        if to.is_some_and(|to| to.id == from.id) {
            ltail.clear(); // one that leads from a box to itself cannot be cut
            lhead.clear();
        }

        write_line(
            f,
            depth,
            format_args!("{tail} -> {head} [label=\"{label}\"{ltail}{lhead}{style}]"),
        )
    }
}

impl fmt::Display for Graphviz<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("digraph flow {\n    compound=true\n    node [shape=box]\n")?;
        if let Some(note) = self.counts.and_then(Counts::lost_note) {
            writeln!(f, "    label=\"{note}\"")?;
        }

        let mut depth = 1;
        for part in Parts::of(self.wiring) {
            match part {
                Part::Flow { inside, start } => {
                    write_points(f, depth, inside)?;
                    let (head, lhead) = point("start", "lhead", start);
                    let style = self
                        .counts
                        .map_or("", |counts| style(counts.mark(start).reached));
                    let flow = FlowId(inside);

                    write_line(
                        f,
                        depth,
                        format_args!("start{flow} -> {head} [label=\"\"{lhead}{style}]"),
                    )?;
                }
                Part::Node(figure) => self.write_figure(f, depth, figure)?,
                Part::Box(figure) => {
                    self.write_figure(f, depth, figure)?;
                    depth += 1;
                }
                Part::Close(figure) => {
                    depth -= 1;
                    write_line(f, depth, format_args!("}}"))?;
                    if figure.place().is_none() {
                        self.write_branch(f, depth, figure)?;
                    }
                }
                Part::Edge {
                    from,
                    exit,
                    index,
                    to,
                } => self.write_edge(f, depth, (from, exit, index), to)?,
            }
        }

        f.write_str("}\n")
    }
}

/// What an edge begins or ends at, and where it is cut: it cannot meet a box, so it goes to a point
/// inside, and only the part outside the box is drawn.
fn point(name: &str, cut: &str, figure: Figure<'_>) -> (String, String) {
    let id = figure.id;
    if figure.is_box() {
        (format!("{name}_n{id}"), format!(", {cut}=cluster_n{id}"))
    } else {
        (format!("n{id}"), String::new())
    }
}

fn write_points(f: &mut fmt::Formatter<'_>, depth: usize, flow: Option<usize>) -> fmt::Result {
    let flow = FlowId(flow);
    write_line(
        f,
        depth,
        format_args!("start{flow} [shape=point, width=0.15]"),
    )?;

    write_line(
        f,
        depth,
        format_args!("end{flow} [shape=point, width=0.15, peripheries=2]"),
    )
}

fn style(reached: bool) -> &'static str {
    if reached {
        ", style=solid, penwidth=2, color=black, fontcolor=black"
    } else {
        ", style=dashed, penwidth=1, color=gray, fontcolor=gray"
    }
}
