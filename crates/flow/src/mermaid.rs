//! Flows as Mermaid flowcharts.

use std::collections::HashMap;
use std::fmt::{Display, Write};

use cogwork_text::MermaidLabel;

use crate::draw::{FlowGraph, GraphEdge, GraphNode, GraphNodeKind};

impl FlowGraph {
    /// Returns the flow as a Mermaid flowchart. Subflows, items and branches are boxes around their
    /// nodes. Names and labels are escaped.
    ///
    /// By default, Mermaid refuses texts of more than 50,000 characters and more than 500 edges; its
    /// settings `maxTextSize` and `maxEdges` raise these limits.
    pub fn mermaid(&self) -> String {
        let mut drawing = Drawing {
            text: "flowchart TD\n".to_owned(),
            depth: 1,
            next: 0,
        };
        drawing.flow(self, "0");
        drawing.text
    }
}

struct Drawing {
    text: String,
    /// The number of boxes around the next line, and the drawing.
    depth: usize,
    /// The next number of a node. Numbers instead of paths keep the size linear.
    next: usize,
}

impl Drawing {
    fn line(&mut self, line: impl Display) {
        // At most 8 levels, which keeps the size of a deep drawing linear.
        let width = 4 * self.depth.min(8);

        // Writing to a text never fails.
        let _ = writeln!(self.text, "{:width$}{line}", "");
    }

    /// Reserves some numbers and returns the first.
    fn reserve(&mut self, count: usize) -> usize {
        let first = self.next;
        self.next += count;
        first
    }

    /// Draws a flow and all flows inside it. `id` identifies its start and its end.
    fn flow(&mut self, flow: &FlowGraph, id: &str) {
        // All at once, because edges may lead to nodes that come later.
        let first = self.reserve(flow.nodes.len());
        let numbers: HashMap<&str, usize> = flow
            .nodes
            .iter()
            .zip(first..)
            .map(|(node, number)| (node.name.as_str(), number))
            .collect();
        // A graph that was read from JSON may name a node that it doesn't have.
        let number = |name: &str| numbers.get(name).copied().unwrap_or(first);

        self.line(format_args!("start{id}(( )) --> n{}", number(&flow.start)));
        for (node, number) in flow.nodes.iter().zip(first..) {
            self.node(node, number);
        }

        for GraphEdge { from, action, to } in &flow.edges {
            let from = number(from);
            let label = MermaidLabel(action);
            match to {
                Some(to) => self.line(format_args!("n{from} -->|\"{label}\"| n{}", number(to))),
                None => self.line(format_args!("n{from} -->|\"{label}\"| end{id}(((end)))")),
            }
        }
    }

    fn node(&mut self, node: &GraphNode, number: usize) {
        let label = MermaidLabel(label(node));
        match node.kind {
            GraphNodeKind::Wait => self.line(format_args!("n{number}[/\"{label}\"/]")),
            GraphNodeKind::Sleep => self.line(format_args!("n{number}{{{{\"{label}\"}}}}")),
            GraphNodeKind::Batch => self.line(format_args!("n{number}[[\"{label}\"]]")),
            GraphNodeKind::Node => self.line(format_args!("n{number}[\"{label}\"]")),
            GraphNodeKind::Subflow | GraphNodeKind::Each | GraphNodeKind::Branches => {
                self.a_box(&label, number, |drawing| drawing.inside(node, number));
            }
        }
    }

    fn inside(&mut self, node: &GraphNode, number: usize) {
        if node.kind != GraphNodeKind::Branches {
            node.inside
                .iter()
                .for_each(|flow| self.flow(flow, &format!("_n{number}")));
            return;
        }

        // Branches are numbered like nodes, because their names may be any text.
        let first = self.reserve(node.inside.len());
        for (branch, number) in node.inside.iter().zip(first..) {
            self.a_box(&MermaidLabel(&branch.name), number, |drawing| {
                drawing.flow(branch, &format!("_n{number}"));
            });
        }
    }

    fn a_box(&mut self, label: &dyn Display, number: usize, inside: impl FnOnce(&mut Self)) {
        self.line(format_args!("subgraph n{number}[\"{label}\"]"));
        self.depth += 1;
        inside(self);
        self.depth -= 1;
        self.line("end");
    }
}

/// Returns the name and the kind of a node.
fn label(node: &GraphNode) -> String {
    let name = &node.name;
    let at_most = node.at_most.unwrap_or(1);
    match node.kind {
        GraphNodeKind::Node | GraphNodeKind::Subflow => name.clone(),
        GraphNodeKind::Wait => {
            let event = node.event.as_deref().unwrap_or_default();
            format!("{name}: waits for {event}")
        }
        GraphNodeKind::Sleep => format!("{name}: sleeps"),
        GraphNodeKind::Batch | GraphNodeKind::Each => {
            format!("{name}: each item, at most {at_most} at a time")
        }
        GraphNodeKind::Branches => format!("{name}: side by side"),
    }
}
