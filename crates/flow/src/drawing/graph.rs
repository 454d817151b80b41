//! The graph of a flow as data, for programs that draw it themselves.

use serde::{Deserialize, Serialize};

use crate::wiring::{Inside, Place, Target, Wiring};

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
    /// The edges, grouped by the node where they begin.
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
    /// Whether the flows inside are omitted, because they are nested too deeply.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub omitted: bool,
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
    /// Whether drawings omit the edge unless a run has taken it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub hidden: bool,
}

impl FlowGraph {
    /// The maximum depth of nested flows: 24. Readers of JSON limit its depth, and each flow adds
    /// four levels.
    pub const MAX_DEPTH: usize = 24;

    pub(crate) fn of(wiring: &Wiring) -> Self {
        Self::at_depth(wiring, wiring.name.clone(), 0)
    }

    fn at_depth(wiring: &Wiring, name: String, depth: usize) -> Self {
        let places = wiring.places.iter();
        let edges = wiring.places.iter().flat_map(|place| edges(wiring, place));

        Self {
            name,
            start: wiring.place(wiring.start).name.clone(),
            nodes: places.map(|place| GraphNode::of(place, depth)).collect(),
            edges: edges.collect(),
        }
    }
}

impl GraphNode {
    fn of(place: &Place, depth: usize) -> Self {
        let node = Self {
            name: place.name.clone(),
            ..Self::default()
        };

        match &place.inside {
            Inside::Node => node,
            Inside::Wait { event } => Self {
                kind: GraphNodeKind::Wait,
                event: Some(event.clone()),
                ..node
            },
            Inside::Sleep => node.of_kind(GraphNodeKind::Sleep),
            Inside::Batch { at_most } => Self {
                at_most: Some(*at_most),
                ..node.of_kind(GraphNodeKind::Batch)
            },
            Inside::Subflow(flow) => {
                let flows = [(&flow.name, flow.as_ref())];
                node.of_kind(GraphNodeKind::Subflow).around(flows, depth)
            }
            Inside::Each { at_most, flow } => {
                let flows = [(&flow.name, flow.as_ref())];
                Self {
                    at_most: Some(*at_most),
                    ..node.of_kind(GraphNodeKind::Each).around(flows, depth)
                }
            }
            Inside::Branches(branches) => {
                let flows = branches.iter().map(|(name, flow)| (name, flow.as_ref()));
                node.of_kind(GraphNodeKind::Branches).around(flows, depth)
            }
        }
    }

    fn of_kind(self, kind: GraphNodeKind) -> Self {
        Self { kind, ..self }
    }

    fn around<'f>(
        self,
        flows: impl IntoIterator<Item = (&'f String, &'f Wiring)>,
        depth: usize,
    ) -> Self {
        let depth = depth + 1;
        if depth >= FlowGraph::MAX_DEPTH {
            return Self {
                omitted: true,
                ..self
            };
        }

        let flows = flows.into_iter();
        let inside = flows.map(|(name, flow)| FlowGraph::at_depth(flow, name.clone(), depth));
        Self {
            inside: inside.collect(),
            ..self
        }
    }
}

fn edges<'f>(wiring: &'f Wiring, place: &'f Place) -> impl Iterator<Item = GraphEdge> + 'f {
    place.exits.iter().map(|exit| GraphEdge {
        from: place.name.clone(),
        action: exit.action.as_str().to_owned(),
        to: match exit.target {
            Target::Node(index) => Some(wiring.place(index).name.clone()),
            Target::End => None,
        },
        hidden: exit.is_hidden,
    })
}
