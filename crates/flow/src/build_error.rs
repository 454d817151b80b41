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

            // Not a part of the problem itself, which may be shown to somebody who writes no code.
            if let WiringProblem::UndeclaredAction { declared, .. } = problem {
                f.write_str(how_to_declare(declared))?;
            }
        }

        Ok(())
    }
}

cogwork_text::debug_as_display!(BuildError);

impl std::error::Error for BuildError {}

/// A problem in a graph.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[expect(
    missing_docs,
    reason = "the fields are named as in the sentence that each problem displays"
)]
pub enum WiringProblem {
    /// The flow has no nodes.
    #[error("it has no node; add one with `node`")]
    NoNodes,
    /// The flow has no start.
    #[error("it has no start; set one with `start`{}", Nodes(nodes))]
    NoStart { nodes: Arc<[String]> },
    /// The flow has more than one start.
    #[error("it has more than one start: {}", NameList::and(starts))]
    ManyStarts { starts: Vec<String> },
    /// The start isn't a node.
    #[error("the start `{}` is not a node{}", Name(start), Nodes(nodes))]
    UnknownStart { start: String, nodes: Arc<[String]> },
    /// Two nodes have the same name.
    #[error("more than one node is named `{}`", Name(node))]
    DuplicateNode { node: String },
    /// Two branches of a node have the same name.
    #[error(
        "more than one branch of node `{}` is named `{}`",
        Name(node),
        Name(branch)
    )]
    DuplicateBranch { node: String, branch: String },
    /// The node declares no actions, so a run could never leave it. This includes a subflow without
    /// an end.
    #[error(
        "node `{}` declares no action, so a run could never leave it",
        Name(node)
    )]
    NoActions { node: String },
    /// Too many flows are nested.
    #[error(
        "node `{}` contains {depth} flows inside one another; at most {} may be",
        Name(node),
        Wiring::MAX_DEPTH
    )]
    TooDeep { node: String, depth: usize },
    /// An edge or an end starts at a name that isn't a node.
    #[error(
        "the edge on `{}` leaves `{}`, which is not a node{}",
        Name(action.as_str()),
        Name(from),
        Nodes(nodes)
    )]
    UnknownSource {
        from: String,
        action: Action,
        nodes: Arc<[String]>,
    },
    /// An edge leads to a name that isn't a node.
    #[error(
        "the edge from `{}` on `{}` leads to `{}`, which is not a node{}",
        Name(from),
        Name(action.as_str()),
        Name(to),
        Nodes(nodes)
    )]
    UnknownTarget {
        from: String,
        action: Action,
        to: String,
        nodes: Arc<[String]>,
    },
    /// An edge is for an action that its node doesn't declare.
    #[error(
        "the edge from `{from}` on `{}` is never taken: `{from}` declares {}",
        Name(action.as_str()),
        NameList::and(&**declared),
        from = Name(from)
    )]
    UndeclaredAction {
        from: String,
        action: Action,
        declared: Arc<[Action]>,
    },
    /// Two edges leave a node on the same action.
    #[error("more than one edge leaves `{}` on `{}`", Name(from), Name(action.as_str()))]
    DuplicateEdge { from: String, action: Action },
    /// A node declares an action that has neither an edge nor an end.
    #[error(
        "node `{}` declares the action `{}`, which leads nowhere; add an edge or an end for it",
        Name(node),
        Name(action.as_str())
    )]
    ActionLeadsNowhere { node: String, action: Action },
    /// No path leads from the start to the node.
    #[error("node `{}` cannot be reached from the start", Name(node))]
    Unreachable { node: String },
}

/// Says how a node declares actions that has the default action alone, as nodes made of closures have.
pub(crate) fn how_to_declare(declared: &[Action]) -> &'static str {
    match declared {
        [only] if *only == Action::DEFAULT => {
            " (a node made of closures declares others by `with_actions`)"
        }
        _ => "",
    }
}

/// Lists the existing names at the end of a message, if there are any.
struct Nodes<'a>(&'a [String]);

impl fmt::Display for Nodes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            [] => Ok(()),
            nodes => write!(f, "; the nodes are {}", NameList::and(nodes)),
        }
    }
}
