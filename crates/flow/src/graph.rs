//! The graph of a flow as data: what journals keep of a flow, and what drawings are made from.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::hash::Hasher;

use cogwork_text::Escaped;
use serde::{Deserialize, Serialize};
use siphasher::sip::SipHasher24;

use crate::wiring::{Place, Target, Wiring};

/// The graph of a flow as data: its nodes and edges, and the flows inside them.
///
/// Created by [`Flow::graph`](crate::Flow::graph). In JSON:
///
/// ```json
/// {
///   "name": "greet",
///   "start": "hello",
///   "nodes": [{"name": "hello", "kind": "node"}],
///   "edges": [{"from": "hello", "action": "default", "to": null}]
/// }
/// ```
///
/// A journal keeps the graph of the flow with which its run began. The run is only resumed if
/// nothing [differs](FlowGraph::difference) that it depends on.
///
/// Later versions may add fields and kinds; readers should ignore those that they don't know.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct FlowGraph {
    /// The name of the flow, or of the branch.
    pub name: String,
    /// The name of the first node.
    pub start: String,
    /// The nodes, in the order in which they were added.
    #[serde(default)]
    pub nodes: Vec<GraphNode>,
    /// The edges, in the order of the nodes where they begin, and of their actions.
    #[serde(default)]
    pub edges: Vec<GraphEdge>,
}

/// A node of a [`FlowGraph`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct GraphNode {
    /// The name.
    pub name: String,
    /// The kind of node.
    #[serde(default)]
    pub kind: GraphNodeKind,
    /// The event that a wait waits for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event: Option<String>,
    /// The maximum number of items at a time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_most: Option<usize>,
    /// The flows inside: one, or one for each branch.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inside: Vec<FlowGraph>,
}

/// The kind of a [`GraphNode`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum GraphNodeKind {
    /// A wait for an event.
    Wait,
    /// A sleep.
    Sleep,
    /// A node that runs over each of many items.
    Batch,
    /// A flow that runs over each of many items.
    Each,
    /// Flows that run concurrently.
    Branches,
    /// A flow.
    Subflow,
    /// A node, or a kind that this version doesn't know.
    #[default]
    #[serde(other)]
    Node,
}

/// An edge of a [`FlowGraph`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct GraphEdge {
    /// The node where it begins.
    pub from: String,
    /// The action that it belongs to.
    pub action: String,
    /// The node where it ends; `None` for the end of the flow.
    pub to: Option<String>,
}

impl FlowGraph {
    pub(crate) fn of(wiring: &Wiring) -> Self {
        Self::named(&wiring.name, wiring)
    }

    fn named(name: &str, wiring: &Wiring) -> Self {
        let edges = wiring.places.iter().flat_map(|place| edges(wiring, place));

        Self {
            name: name.to_owned(),
            start: wiring.place(wiring.start).name.clone(),
            nodes: wiring.places.iter().map(GraphNode::of).collect(),
            edges: edges.collect(),
        }
    }

    /// Returns the events that nodes wait for, in this flow and in those inside it. The event of a wait
    /// with a [key](crate::Wait::with_key) is `<event> …`.
    pub fn events(&self) -> BTreeSet<&str> {
        let mut events = BTreeSet::new();
        for node in &self.nodes {
            events.extend(node.event.as_deref());
            events.extend(node.inside.iter().flat_map(Self::events));
        }

        events
    }

    /// Returns whether a node waits for an event, or may do so with a key.
    pub fn awaits(&self, event: &str) -> bool {
        let events = self.events();
        events.into_iter().any(|known| stands_for(known, event))
    }

    /// Returns a hash of what a recorded run depends on. It is the same in every process and on
    /// every platform, and for graphs that don't [differ](FlowGraph::difference).
    pub fn digest(&self) -> u64 {
        let mut hasher = SipHasher24::new();
        for line in self.lines() {
            hasher.write(line.as_bytes());
            // Keeps two lines apart that would be the same text when joined.
            hasher.write(b"\n");
        }

        hasher.finish()
    }

    /// Describes the difference between this graph and `recorded` in one line; `None` if a run of the
    /// one can be resumed with the other: the same nodes, kinds, events and edges, and the same flows
    /// inside. The name, the order of nodes, and how many items run at a time don't matter.
    pub fn difference(&self, recorded: &Self) -> Option<String> {
        let lines = self.lines();
        let recorded = recorded.lines();
        let parts = [
            ("gone", only_in(&recorded, &lines)),
            ("new", only_in(&lines, &recorded)),
        ];

        let parts: Vec<_> = parts
            .into_iter()
            .filter(|(_, lines)| !lines.is_empty())
            .map(|(what, lines)| format!("{what}: {}", first_of(&lines)))
            .collect();
        (!parts.is_empty()).then(|| parts.join("; "))
    }

    /// Returns what a recorded run depends on, in an order that doesn't depend on the builder.
    fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        self.describe("", &mut lines);
        lines
    }

    /// Describes the flow at a path, and the flows inside it.
    fn describe(&self, path: &str, lines: &mut Vec<String>) {
        let at = match path {
            "" => String::new(),
            path => format!(" in `{path}`"),
        };

        lines.push(format!("the start `{}`{at}", self.start));
        let mut edges: HashMap<&str, Vec<&GraphEdge>> = HashMap::new();
        for edge in &self.edges {
            edges.entry(&edge.from).or_default().push(edge);
        }

        let mut nodes: Vec<_> = self.nodes.iter().collect();
        // The order in which nodes and edges were added doesn't matter to a run.
        nodes.sort_unstable_by_key(|node| &node.name);

        for node in nodes {
            let GraphNode { name, kind, .. } = node;
            let event = node.event.as_ref();
            let event = event.map_or_else(String::new, |event| format!(" for the event `{event}`"));
            lines.push(format!("the {} `{name}`{event}{at}", kind.name()));

            let mut edges = edges.remove(name.as_str()).unwrap_or_default();
            edges.sort_unstable_by_key(|edge| &edge.action);
            for GraphEdge { action, to, .. } in edges {
                let to = to.as_ref();
                let to = to.map_or_else(|| "to the end".to_owned(), |to| format!("to `{to}`"));
                lines.push(format!("the edge from `{name}` on `{action}` {to}{at}"));
            }

            for inner in &node.inside {
                let mut inside = format!("{path}/{name}");
                // The name of a branch is part of the names of its steps, that of a flow over items
                // isn't.
                if *kind == GraphNodeKind::Branches {
                    lines.push(format!("the branch `{}` of `{name}`{at}", inner.name));
                    inside = format!("{inside}/{}", inner.name);
                }

                inner.describe(inside.trim_start_matches('/'), lines);
            }
        }
    }
}

impl GraphNode {
    fn of(place: &Place) -> Self {
        let node = Self {
            name: place.name.clone(),
            ..Self::default()
        };
        let Some(inside) = place.inside.as_deref() else {
            return node;
        };

        let flows = inside.flows.iter();
        let flows = flows.map(|(name, flow)| FlowGraph::named(name, flow));
        Self {
            kind: inside.kind,
            event: inside.event.clone(),
            at_most: inside.at_most,
            inside: flows.collect(),
            ..node
        }
    }
}

impl GraphNodeKind {
    fn name(self) -> &'static str {
        match self {
            Self::Wait => "wait",
            Self::Sleep => "sleep",
            Self::Batch => "batch",
            Self::Each => "flow over items",
            Self::Branches => "branches",
            Self::Subflow => "subflow",
            Self::Node => "node",
        }
    }
}

fn edges<'f>(wiring: &'f Wiring, place: &'f Place) -> impl Iterator<Item = GraphEdge> + 'f {
    place.exits.iter().map(|exit| GraphEdge {
        from: place.name.clone(),
        action: exit.action.as_str().to_owned(),
        to: match exit.target {
            Target::Node(index) => Some(wiring.place(index).name.clone()),
            Target::End | Target::Missing => None,
        },
    })
}

/// Returns the lines of one list that the other doesn't have.
fn only_in<'a>(these: &'a [String], those: &[String]) -> Vec<&'a String> {
    // A set, because comparing each line with each would take quadratic time.
    let those: HashSet<_> = those.iter().collect();
    these.iter().filter(|line| !those.contains(line)).collect()
}

/// Lists the first lines. The names in them may have any length.
fn first_of(lines: &[&String]) -> String {
    const LISTED: usize = 5;

    let short = |line: &&String| Escaped::new(line).with_max_chars(300).to_string();
    let listed: Vec<String> = lines.iter().take(LISTED).map(short).collect();
    match lines.len().saturating_sub(LISTED) {
        0 => listed.join(", "),
        more => format!("{} and {more} more", listed.join(", ")),
    }
}

/// What stands for the key of an event in a graph.
pub(crate) const ANY_KEY: &str = "…";

/// Returns whether an event is the one of a graph, or that one with a key.
pub(crate) fn stands_for(known: &str, event: &str) -> bool {
    let with_key = known.strip_suffix(ANY_KEY);
    known == event || with_key.is_some_and(|start| event.starts_with(start))
}
