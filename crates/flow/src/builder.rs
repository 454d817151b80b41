use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use crate::error::write_list;
use crate::visit::{Leaf, Subflow, Visit};
use crate::wiring::{Exit, Place, Target, Wiring};
use crate::{Action, Flow, Node};

/// Wires nodes by name; made by [`Flow::builder`].
///
/// The order of the calls does not matter: names are looked up by [`build`](FlowBuilder::build),
/// which reports every problem at once.
///
/// ```
/// use cogwork_flow::{Flow, from_fn};
///
/// let error = Flow::builder("review")
///     .start("raed")
///     .node("read", from_fn(|_: &mut ()| ()))
///     .edge("read", "done", "judge")
///     .build()
///     .unwrap_err();
/// assert_eq!(format!("{error:#}"), "\
/// flow `review` has 4 problems:
/// - the start `raed` is not a node; the nodes are `read`
/// - the edge from `read` on `done` leads to `judge`, which is not a node; the nodes are `read`
/// - the edge from `read` on `done` is never taken: `read` declares `default`
/// - node `read` declares the action `default`, which leads nowhere; add an edge or an end for it");
/// ```
#[must_use = "a flow is made by `build`"]
pub struct FlowBuilder<S> {
    name: String,
    starts: Vec<String>,
    nodes: Vec<Wanted<S>>,
    edges: Vec<Edge>,
}

struct Wanted<S> {
    name: String,
    actions: Vec<Action>,
    subflow: Option<Arc<Wiring>>,
    visit: Box<dyn Visit<S>>,
}

struct Edge {
    from: String,
    action: Action,
    /// `None` is an end.
    to: Option<String>,
}

impl<S> FlowBuilder<S> {
    pub(crate) fn new(name: String) -> Self {
        Self { name, starts: Vec::new(), nodes: Vec::new(), edges: Vec::new() }
    }

    /// Says at which node a run starts. A flow has exactly one start.
    pub fn start(mut self, node: impl Into<String>) -> Self {
        self.starts.push(node.into());
        self
    }

    /// Adds a node under a name.
    pub fn node(mut self, name: impl Into<String>, node: impl Node<S> + 'static) -> Self
    where
        S: Send + 'static,
    {
        let actions = node.actions();
        self.nodes.push(Wanted { name: name.into(), actions, subflow: None, visit: Box::new(Leaf(node)) });
        self
    }

    /// Adds a whole flow over a part of the state under a name. The label on which it ends
    /// chooses the edge to follow; `|state| state` hands it the whole state.
    pub fn subflow<T: 'static>(
        mut self,
        name: impl Into<String>,
        flow: Flow<T>,
        part: impl Fn(&mut S) -> &mut T + Send + Sync + 'static,
    ) -> Self
    where
        S: 'static,
    {
        let actions = flow.actions();
        let subflow = Some(Arc::clone(&flow.wiring));
        self.nodes.push(Wanted {
            name: name.into(),
            actions,
            subflow,
            visit: Box::new(Subflow { flow, part }),
        });
        self
    }

    /// Leads from a node, on an action, to a node.
    pub fn edge(mut self, from: impl Into<String>, action: impl Into<Action>, to: impl Into<String>) -> Self {
        self.edges.push(Edge { from: from.into(), action: action.into(), to: Some(to.into()) });
        self
    }

    /// Ends the flow when a node answers an action. Nothing ends by omission.
    pub fn end(mut self, from: impl Into<String>, action: impl Into<Action>) -> Self {
        self.edges.push(Edge { from: from.into(), action: action.into(), to: None });
        self
    }

    /// Checks the whole graph and makes the flow.
    ///
    /// # Errors
    ///
    /// A [`BuildError`] with every [`Problem`] there is.
    pub fn build(self) -> Result<Flow<S>, BuildError> {
        let mut check = Check::new(&self);
        let start = check.start(&self.starts);
        let exits = check.exits(&self.edges);
        check.reachable(start, &exits);
        let problems = check.problems;
        if !problems.is_empty() {
            return Err(BuildError { flow: self.name, problems });
        }
        let (mut places, mut visits) = (Vec::with_capacity(exits.len()), Vec::with_capacity(exits.len()));
        for (wanted, exits) in self.nodes.into_iter().zip(exits) {
            places.push(Place { name: wanted.name, exits, subflow: wanted.subflow });
            visits.push(wanted.visit);
        }
        let wiring = Wiring { name: self.name, start: start.unwrap_or_default(), places };
        Ok(Flow { wiring: Arc::new(wiring), visits })
    }
}

/// The check of a graph: looks up names once, collects problems as it goes.
struct Check<'b> {
    /// Each name and the actions declared under it, in the order of the nodes.
    nodes: Vec<(&'b str, &'b [Action])>,
    index: HashMap<&'b str, usize>,
    problems: Vec<Problem>,
}

impl<'b> Check<'b> {
    fn new<S>(builder: &'b FlowBuilder<S>) -> Self {
        let mut check = Self { nodes: Vec::new(), index: HashMap::new(), problems: Vec::new() };
        if builder.nodes.is_empty() {
            check.problems.push(Problem::NoNodes);
        }
        for (index, wanted) in builder.nodes.iter().enumerate() {
            check.nodes.push((&wanted.name, &wanted.actions));
            if check.index.insert(&wanted.name, index).is_some() {
                check.problems.push(Problem::DuplicateNode { node: wanted.name.clone() });
            }
            if wanted.actions.is_empty() {
                check.problems.push(Problem::NoActions { node: wanted.name.clone() });
            }
        }
        check
    }

    fn names(&self) -> Vec<String> {
        self.nodes.iter().map(|(name, _)| (*name).to_owned()).collect()
    }

    fn start(&mut self, starts: &[String]) -> Option<usize> {
        match starts {
            [] => {
                self.problems.push(Problem::NoStart { nodes: self.names() });
                None
            }
            [start] => {
                let index = self.index.get(start.as_str()).copied();
                if index.is_none() {
                    self.problems.push(Problem::UnknownStart { start: start.clone(), nodes: self.names() });
                }
                index
            }
            _ => {
                self.problems.push(Problem::ManyStarts { starts: starts.to_vec() });
                None
            }
        }
    }

    /// The exits of each node, in the order of the nodes.
    fn exits(&mut self, edges: &[Edge]) -> Vec<Vec<Exit>> {
        let mut exits: Vec<Vec<Exit>> = self.nodes.iter().map(|_| Vec::new()).collect();
        for edge in edges {
            let (from, action) = (edge.from.clone(), edge.action.clone());
            let target = match &edge.to {
                None => Some(Target::End),
                Some(to) => self.index.get(to.as_str()).copied().map(Target::Node),
            };
            if let (None, Some(to)) = (target, edge.to.clone()) {
                let (from, action, nodes) = (from.clone(), action.clone(), self.names());
                self.problems.push(Problem::UnknownTarget { from, action, to, nodes });
            }
            let found = self
                .index
                .get(from.as_str())
                .and_then(|index| Some((self.nodes.get(*index)?, exits.get_mut(*index)?)));
            let Some(((_, declared), known)) = found else {
                self.problems.push(Problem::UnknownSource { from, action, nodes: self.names() });
                continue;
            };
            if !declared.contains(&action) {
                self.problems.push(Problem::UndeclaredAction { from, action, declared: declared.to_vec() });
            } else if known.iter().any(|exit| exit.action == action) {
                self.problems.push(Problem::DuplicateEdge { from, action });
            } else {
                // An unknown target is reported already; the edge still answers its action.
                known.push(Exit { action, target: target.unwrap_or(Target::End) });
            }
        }
        for ((name, declared), known) in self.nodes.iter().zip(&exits) {
            for action in *declared {
                if !known.iter().any(|exit| exit.action == *action) {
                    self.problems.push(Problem::ActionLeadsNowhere {
                        node: (*name).to_owned(),
                        action: action.clone(),
                    });
                }
            }
        }
        exits
    }

    fn reachable(&mut self, start: Option<usize>, exits: &[Vec<Exit>]) {
        let Some(start) = start else { return };
        let mut reached = vec![false; self.nodes.len()];
        let mut open = vec![start];
        while let Some(index) = open.pop() {
            let (Some(reached), Some(exits)) = (reached.get_mut(index), exits.get(index)) else { continue };
            if !std::mem::replace(reached, true) {
                open.extend(exits.iter().filter_map(|exit| match exit.target {
                    Target::Node(target) => Some(target),
                    Target::End => None,
                }));
            }
        }
        let unreached = self.nodes.iter().zip(&reached).filter(|(_, reached)| !**reached);
        self.problems
            .extend(unreached.map(|((name, _), _)| Problem::Unreachable { node: (*name).to_owned() }));
    }
}

/// A graph that is not whole, with every problem it has.
///
/// `{}` is one line, `{:#}` a line for each problem.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BuildError {
    flow: String,
    problems: Vec<Problem>,
}

impl BuildError {
    /// The name of the flow.
    pub fn flow(&self) -> &str {
        &self.flow
    }

    /// Everything that is wrong with it, at least one problem.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = if self.problems.len() == 1 { "" } else { "s" };
        write!(f, "flow `{}` has {} problem{plural}:", self.flow, self.problems.len())?;
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

impl std::error::Error for BuildError {}

/// One thing that is wrong with a graph.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the fields are named as in the sentence that each problem displays")]
pub enum Problem {
    /// The flow has no node.
    NoNodes,
    /// No start is said.
    NoStart { nodes: Vec<String> },
    /// More than one start is said.
    ManyStarts { starts: Vec<String> },
    /// The start is not a node.
    UnknownStart { start: String, nodes: Vec<String> },
    /// Two nodes bear the same name.
    DuplicateNode { node: String },
    /// A node that declares no action could never be left; a subflow without an end is one.
    NoActions { node: String },
    /// An edge or end leaves a name that is not a node.
    UnknownSource { from: String, action: Action, nodes: Vec<String> },
    /// An edge leads to a name that is not a node.
    UnknownTarget { from: String, action: Action, to: String, nodes: Vec<String> },
    /// An edge is for an action that its node never answers.
    UndeclaredAction { from: String, action: Action, declared: Vec<Action> },
    /// Two edges leave a node on the same action.
    DuplicateEdge { from: String, action: Action },
    /// A node may answer an action that no edge and no end bears.
    ActionLeadsNowhere { node: String, action: Action },
    /// No path leads from the start to the node.
    Unreachable { node: String },
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoNodes => f.write_str("it has no node; add one with `node`"),
            Self::NoStart { nodes } => {
                f.write_str("it has no start; say one with `start`; the nodes are ")?;
                write_list(f, nodes)
            }
            Self::ManyStarts { starts } => {
                f.write_str("it has more than one start: ")?;
                write_list(f, starts)
            }
            Self::UnknownStart { start, nodes } => {
                write!(f, "the start `{start}` is not a node; the nodes are ")?;
                write_list(f, nodes)
            }
            Self::DuplicateNode { node } => write!(f, "more than one node is named `{node}`"),
            Self::NoActions { node } => {
                write!(f, "node `{node}` declares no action, so a run could never leave it")
            }
            Self::UnknownSource { from, action, nodes } => {
                write!(f, "the edge on `{action}` leaves `{from}`, which is not a node; the nodes are ")?;
                write_list(f, nodes)
            }
            Self::UnknownTarget { from, action, to, nodes } => {
                write!(
                    f,
                    "the edge from `{from}` on `{action}` leads to `{to}`, which is not a node; the nodes are "
                )?;
                write_list(f, nodes)
            }
            Self::UndeclaredAction { from, action, declared } => {
                write!(f, "the edge from `{from}` on `{action}` is never taken: `{from}` declares ")?;
                write_list(f, declared)
            }
            Self::DuplicateEdge { from, action } => {
                write!(f, "more than one edge leaves `{from}` on `{action}`")
            }
            Self::ActionLeadsNowhere { node, action } => {
                write!(
                    f,
                    "node `{node}` declares the action `{action}`, which leads nowhere; add an edge or an end for it"
                )
            }
            Self::Unreachable { node } => write!(f, "node `{node}` cannot be reached from the start"),
        }
    }
}
