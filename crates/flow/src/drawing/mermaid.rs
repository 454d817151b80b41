use std::fmt;

use cogwork_text::MermaidLabel;

use super::counts::{Counts, Mark, Stop};
use super::parts::{Figure, FlowId, Part, Parts, write_line};
use crate::wiring::{Inside, Wiring};

/// A flow as a Mermaid flowchart, written by `Display`; made by [`Flow::mermaid`](crate::Flow::mermaid)
/// and [`Visits::mermaid`](crate::Visits::mermaid).
///
/// Subflows, items and branches are boxes around their nodes. Names and labels are escaped, so any
/// text is drawn as it is. Mermaid itself refuses texts of more than 50,000 characters and 500 edges
/// unless its settings `maxTextSize` and `maxEdges` say otherwise, and Mermaid 11 could not lay out 50
/// boxes inside one another, which [`Graphviz`](crate::Graphviz) can.
#[derive(Debug, Clone, Copy)]
pub struct Mermaid<'f> {
    wiring: &'f Wiring,
    counts: Option<&'f Counts>,
}

impl<'f> Mermaid<'f> {
    pub(crate) fn new(wiring: &'f Wiring, counts: Option<&'f Counts>) -> Self {
        Self { wiring, counts }
    }

    fn mark(&self, figure: Figure<'_>) -> Option<Mark> {
        self.counts.map(|counts| counts.mark(figure))
    }

    fn write_figure(
        &self,
        f: &mut fmt::Formatter<'_>,
        depth: usize,
        figure: Figure<'_>,
    ) -> fmt::Result {
        let id = figure.id;
        let mark = self.mark(figure);
        let shown_mark = mark.unwrap_or_default();
        let text = format_args!("{figure}{shown_mark}");
        let label = MermaidLabel(text);
        let (open, close) = match figure.place().map(|place| &place.inside) {
            Some(Inside::Node) => ("[", "]"),
            Some(Inside::Wait { .. }) => ("[/", "/]"),
            Some(Inside::Sleep) => ("{{", "}}"),
            Some(Inside::Batch { .. }) => ("[[", "]]"),
            Some(Inside::Subflow(_) | Inside::Each { .. } | Inside::Branches(_)) | None => {
                return write_line(f, depth, format_args!("subgraph n{id}[\"{label}\"]"));
            }
        };

        write_line(f, depth, format_args!("n{id}{open}\"{label}\"{close}"))?;
        self.write_class(f, depth, figure)
    }

    fn write_class(
        &self,
        f: &mut fmt::Formatter<'_>,
        depth: usize,
        figure: Figure<'_>,
    ) -> fmt::Result {
        let class = match self.mark(figure) {
            None => return Ok(()),
            Some(Mark {
                stop: Some(stop), ..
            }) => match stop {
                Stop::Ended => "ended",
                Stop::Paused => "paused",
                Stop::Failed => "failed",
            },
            Some(Mark { reached: false, .. }) => "unvisited",
            Some(_) => return Ok(()),
        };
        write_line(f, depth, format_args!("class n{} {class}", figure.id))
    }

    fn write_head(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("flowchart TD\n")?;
        let Some(counts) = self.counts else {
            return Ok(());
        };

        f.write_str("    classDef unvisited opacity:0.5,stroke-dasharray:4\n")?;
        f.write_str("    classDef ended stroke:#080,stroke-width:4px\n")?;
        f.write_str("    classDef paused stroke:#d80,stroke-width:4px\n")?;
        f.write_str("    classDef failed stroke:#c00,stroke-width:4px\n")?;

        match counts.lost_note() {
            Some(note) => writeln!(f, "    lost>\"{note}\"]"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Mermaid<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_head(f)?;
        let mut depth = 1;
        for part in Parts::of(self.wiring) {
            match part {
                Part::Flow { inside, start } => {
                    let arrow = arrow(self.mark(start).map(|mark| mark.reached));
                    let flow = FlowId(inside);
                    write_line(
                        f,
                        depth,
                        format_args!("start{flow}(( )) {arrow} n{}", start.id),
                    )?;
                }
                Part::Node(figure) => self.write_figure(f, depth, figure)?,
                Part::Box(figure) => {
                    self.write_figure(f, depth, figure)?;
                    depth += 1;
                }
                Part::Close(figure) => {
                    depth -= 1;
                    write_line(f, depth, format_args!("end"))?;
                    self.write_class(f, depth, figure)?; // a box has no class before its end
                }
                Part::Edge {
                    from,
                    exit,
                    index,
                    to,
                } => {
                    let taken = self.counts.map(|counts| counts.taken(from.id, index));
                    let arrow = arrow(taken.map(|taken| taken.0 > 0));
                    let times = taken.unwrap_or_default();
                    let text = format_args!("{}{times}", exit.action.as_str());
                    let label = MermaidLabel(text);
                    let id = from.id;

                    match to {
                        Some(to) => write_line(
                            f,
                            depth,
                            format_args!("n{id} {arrow}|\"{label}\"| n{}", to.id),
                        )?,
                        None => {
                            let flow = FlowId(from.inside);
                            write_line(
                                f,
                                depth,
                                format_args!("n{id} {arrow}|\"{label}\"| end{flow}(((end)))"),
                            )?
                        }
                    }
                }
            }
        }

        Ok(())
    }
}

fn arrow(taken: Option<bool>) -> &'static str {
    match taken {
        None => "-->",
        Some(true) => "==>",
        Some(false) => "-.->",
    }
}
