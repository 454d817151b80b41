use std::fmt;
use std::sync::Arc;

use cogwork_text::{Name, NameList};

use crate::Action;
use crate::wiring::Wiring;

/// The error of a graph that isn't valid. Contains all problems.
///
/// `{}` writes one line, `{:#}` one line per problem. Both escape control characters in names and
/// shorten long names and lists; the fields of a [`WiringProblem`] contain them unchanged.
#[derive(Clone, PartialEq, Eq)]
pub struct BuildError {
    flow: String,
    problems: Vec<WiringProblem>,
}

impl BuildError {
    pub(crate) fn new(flow: String, problems: Vec<WiringProblem>) -> Self {
        Self { flow, problems }
    }

    /// Returns the name of the flow.
    pub fn flow(&self) -> &str {
        &self.flow
    }

    /// Returns all problems, at least one.
    pub fn problems(&self) -> &[WiringProblem] {
        &self.problems
    }
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = if self.problems.len() == 1 { "" } else { "s" };
        write!(
            f,
            "flow `{}` has {} problem{plural}:",
            Name(&self.flow),
            self.problems.len()
        )?;

        for (index, problem) in self.problems.iter().enumerate() {
            match (f.alternate(), index) {
                (true, _) => write!(f, "\n- {problem}")?,
                (false, 0) => write!(f, " {problem}")?,
                (false, _) => write!(f, "; {problem}")?,
            }
        }

        Ok(())
    }
}

cogwork_text::debug_as_display!(BuildError);

impl std::error::Error for BuildError {}

/// A problem in a graph.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
#[expect(
    missing_docs,
    reason = "the fields are named as in the sentence that each problem displays"
)]
pub enum WiringProblem {
    /// The flow has no nodes.
    NoNodes,
    /// The flow has no start.
    NoStart { nodes: Arc<[String]> },
    /// The flow has more than one start.
    ManyStarts { starts: Vec<String> },
    /// The start isn't a node.
    UnknownStart { start: String, nodes: Arc<[String]> },
    /// Two nodes have the same name.
    DuplicateNode { node: String },
    /// Two branches of a node have the same name.
    DuplicateBranch { node: String, branch: String },
    /// The node declares no actions, so a run could never leave it. This includes a subflow without
    /// an end.
    NoActions { node: String },
    /// Too many flows are nested.
    TooDeep { node: String, depth: usize },
    /// An edge or an end starts at a name that isn't a node.
    UnknownSource {
        from: String,
        action: Action,
        nodes: Arc<[String]>,
    },
    /// An edge leads to a name that isn't a node.
    UnknownTarget {
        from: String,
        action: Action,
        to: String,
        nodes: Arc<[String]>,
    },
    /// An edge is for an action that its node doesn't declare.
    UndeclaredAction {
        from: String,
        action: Action,
        declared: Arc<[Action]>,
    },
    /// Two edges leave a node on the same action.
    DuplicateEdge { from: String, action: Action },
    /// A node declares an action that has neither an edge nor an end.
    ActionLeadsNowhere { node: String, action: Action },
    /// No path leads from the start to the node.
    Unreachable { node: String },
}

impl fmt::Display for WiringProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoNodes => f.write_str("it has no node; add one with `node`"),
            Self::NoStart { nodes } => {
                f.write_str("it has no start; set one with `start`")?;
                write_nodes(f, nodes)
            }
            Self::ManyStarts { starts } => {
                write!(f, "it has more than one start: {}", NameList::and(starts))
            }
            Self::UnknownStart { start, nodes } => {
                write!(f, "the start `{}` is not a node", Name(start))?;
                write_nodes(f, nodes)
            }
            Self::DuplicateNode { node } => {
                write!(f, "more than one node is named `{}`", Name(node))
            }
            Self::DuplicateBranch { node, branch } => {
                write!(
                    f,
                    "more than one branch of node `{}` is named `{}`",
                    Name(node),
                    Name(branch)
                )
            }
            Self::NoActions { node } => {
                write!(
                    f,
                    "node `{}` declares no action, so a run could never leave it",
                    Name(node)
                )
            }
            Self::TooDeep { node, depth } => {
                write!(
                    f,
                    "node `{}` contains {depth} flows inside one another; at most {} may be",
                    Name(node),
                    Wiring::MAX_DEPTH
                )
            }
            Self::UnknownSource {
                from,
                action,
                nodes,
            } => {
                let from = Name(from);
                let action = Name(action.as_str());
                write!(
                    f,
                    "the edge on `{action}` leaves `{from}`, which is not a node"
                )?;
                write_nodes(f, nodes)
            }
            Self::UnknownTarget {
                from,
                action,
                to,
                nodes,
            } => {
                let from = Name(from);
                let action = Name(action.as_str());
                let to = Name(to);
                write!(
                    f,
                    "the edge from `{from}` on `{action}` leads to `{to}`, which is not a node"
                )?;
                write_nodes(f, nodes)
            }
            Self::UndeclaredAction {
                from,
                action,
                declared,
            } => {
                let from = Name(from);
                let action = Name(action.as_str());
                write!(
                    f,
                    "the edge from `{from}` on `{action}` is never taken: `{from}` declares "
                )?;
                match declared.as_ref() {
                    [] => f.write_str("nothing"),
                    declared => write!(f, "{}", NameList::and(declared)),
                }
            }
            Self::DuplicateEdge { from, action } => {
                let from = Name(from);
                let action = Name(action.as_str());
                write!(f, "more than one edge leaves `{from}` on `{action}`")
            }
            Self::ActionLeadsNowhere { node, action } => {
                let node = Name(node);
                let action = Name(action.as_str());
                write!(
                    f,
                    "node `{node}` declares the action `{action}`, which leads nowhere; add an edge or an end for it"
                )
            }
            Self::Unreachable { node } => {
                write!(f, "node `{}` cannot be reached from the start", Name(node))
            }
        }
    }
}

/// Lists the existing names at the end of a message, if there are any.
fn write_nodes(f: &mut fmt::Formatter<'_>, nodes: &[String]) -> fmt::Result {
    if nodes.is_empty() {
        return Ok(());
    }
    write!(f, "; the nodes are {}", NameList::and(nodes))
}
