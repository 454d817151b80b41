use std::cell::OnceCell;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::visit::{Leaf, Subflow, Visit};
use crate::wait::Sleep;
use crate::wiring::{Depth, Exit, Inside, Place, Target, Wiring};
use crate::{Action, Batch, Branches, BuildError, Each, Flow, Node, Problem, Wait};

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

/// How deep flows may stand inside one another. Each level costs stack when the flow is drawn,
/// visited and dropped; this many fit eight times into a thread of 2 MiB. A level that runs side by
/// side is polled by the one around it, which costs more.
pub(crate) const MAX_DEPTH: Depth = Depth { flows: 1_000, side_by_side: 64 };

struct Wanted<S> {
    name: String,
    actions: Arc<[Action]>,
    inside: Inside,
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

    fn add(
        mut self,
        name: String,
        actions: Arc<[Action]>,
        inside: Inside,
        visit: impl Visit<S> + 'static,
    ) -> Self {
        self.nodes.push(Wanted { name, actions, inside, visit: Box::new(visit) });
        self
    }

    /// Says at which node a run starts. A flow has exactly one start.
    pub fn start(mut self, node: impl Into<String>) -> Self {
        self.starts.push(node.into());
        self
    }

    /// Adds a node under a name.
    pub fn node(self, name: impl Into<String>, node: impl Node<S> + 'static) -> Self
    where
        S: Send + 'static,
    {
        let actions = node.actions().into();
        self.add(name.into(), actions, Inside::Node, Leaf(node))
    }

    /// Adds a whole flow over a part of the state under a name. The label on which it ends
    /// chooses the edge to follow; `|state| state` hands it the whole state. Up to 1,000 subflows
    /// may stand inside one another.
    pub fn subflow<T: 'static>(
        self,
        name: impl Into<String>,
        flow: Flow<T>,
        part: impl Fn(&mut S) -> &mut T + Send + Sync + 'static,
    ) -> Self
    where
        S: 'static,
    {
        let actions = flow.actions().into();
        let inside = Inside::Subflow(Arc::clone(&flow.wiring));
        self.add(name.into(), actions, inside, Subflow { flow, part })
    }

    /// Adds a flow that runs over each of many items in one visit; see [`Each`]. It leaves by
    /// [`Action::DEFAULT`].
    pub fn each<I>(self, name: impl Into<String>, each: Each<S, I>) -> Self
    where
        S: Send + 'static,
        I: Send + 'static,
    {
        let inside = each.inside();
        self.add(name.into(), [Action::DEFAULT].into(), inside, each)
    }

    /// Adds several flows that run side by side in one visit; see [`Branches`]. They leave
    /// together by [`Action::DEFAULT`].
    pub fn branches(self, name: impl Into<String>, branches: Branches<S>) -> Self
    where
        S: Send + 'static,
    {
        let inside = branches.inside();
        self.add(name.into(), [Action::DEFAULT].into(), inside, branches)
    }

    /// Adds a node that runs over each of many items in one visit; see [`Batch`]. It leaves by
    /// [`Action::DEFAULT`].
    pub fn batch<I, N>(self, name: impl Into<String>, batch: Batch<S, I, N>) -> Self
    where
        S: Send + 'static,
        I: Serialize + DeserializeOwned + Send + Sync + 'static,
        N: Node<I> + 'static,
    {
        let inside = batch.inside();
        self.add(name.into(), [Action::DEFAULT].into(), inside, batch)
    }

    /// Adds a place where the run waits for an event from outside; see [`Wait`].
    pub fn wait(self, name: impl Into<String>, wait: Wait<S>) -> Self
    where
        S: Send + 'static,
    {
        let inside = wait.inside();
        self.add(name.into(), wait.actions().into(), inside, wait)
    }

    /// Adds a place where the run sleeps, for as long as the closure says of the state. It leaves
    /// by [`Action::DEFAULT`].
    ///
    /// With a journal the time goes on while the program does not run: a run that is taken up
    /// again sleeps for what is left. It never sleeps for longer than the closure says, also when the
    /// clock was set back in the meantime. Inside items and branches a sleep needs a journal.
    pub fn sleep(
        self,
        name: impl Into<String>,
        duration: impl Fn(&S) -> Duration + Send + Sync + 'static,
    ) -> Self
    where
        S: Send + 'static,
    {
        self.add(name.into(), [Action::DEFAULT].into(), Inside::Sleep, Sleep(duration))
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
            return Err(BuildError::new(self.name, problems));
        }
        let (mut places, mut visits) = (Vec::with_capacity(exits.len()), Vec::with_capacity(exits.len()));
        for (wanted, exits) in self.nodes.into_iter().zip(exits) {
            places.push(Place { name: wanted.name, exits, inside: wanted.inside });
            visits.push(wanted.visit);
        }
        let wiring = Wiring::new(self.name, start.unwrap_or_default(), places);
        Ok(Flow { wiring: Arc::new(wiring), visits })
    }
}

/// The check of a graph: looks up names once, collects problems as it goes.
struct Check<'b> {
    /// Each name and the actions declared under it, in the order of the nodes.
    nodes: Vec<(&'b str, &'b Arc<[Action]>)>,
    index: HashMap<&'b str, usize>,
    names: OnceCell<Arc<[String]>>,
    problems: Vec<Problem>,
}

impl<'b> Check<'b> {
    fn new<S>(builder: &'b FlowBuilder<S>) -> Self {
        let count = builder.nodes.len();
        let mut check = Self {
            nodes: Vec::with_capacity(count),
            index: HashMap::with_capacity(count),
            names: OnceCell::new(),
            problems: Vec::new(),
        };
        if builder.nodes.is_empty() {
            check.problems.push(Problem::NoNodes);
        }
        let mut repeated = HashSet::new();
        for wanted in &builder.nodes {
            if wanted.actions.is_empty() {
                check.problems.push(Problem::NoActions { node: wanted.name.clone() });
            }
            if let Inside::Branches(branches) = &wanted.inside {
                let mut known = HashSet::new();
                for (branch, _) in branches.iter().filter(|(branch, _)| !known.insert(branch)) {
                    let (node, branch) = (wanted.name.clone(), branch.clone());
                    check.problems.push(Problem::DuplicateBranch { node, branch });
                }
            }
            let depth = wanted.inside.depth();
            if depth.flows > MAX_DEPTH.flows {
                check.problems.push(Problem::TooDeep { node: wanted.name.clone(), depth: depth.flows });
            } else if depth.side_by_side > MAX_DEPTH.side_by_side {
                let (node, depth) = (wanted.name.clone(), depth.side_by_side);
                check.problems.push(Problem::TooDeepSideBySide { node, depth });
            }
            // A second bearer of a name is left out of all other checks: no edge could name it, and
            // what they would say of it would read as said of the first.
            match check.index.entry(&wanted.name) {
                Entry::Vacant(free) => {
                    free.insert(check.nodes.len());
                    check.nodes.push((&wanted.name, &wanted.actions));
                }
                Entry::Occupied(_) if repeated.insert(&wanted.name) => {
                    check.problems.push(Problem::DuplicateNode { node: wanted.name.clone() });
                }
                Entry::Occupied(_) => {}
            }
        }
        check
    }

    fn start(&mut self, starts: &[String]) -> Option<usize> {
        let nodes = || self.names();
        let problem = match starts {
            [] => Problem::NoStart { nodes: nodes() },
            [start] => match self.index.get(start.as_str()) {
                Some(index) => return Some(*index),
                None => Problem::UnknownStart { start: start.clone(), nodes: nodes() },
            },
            _ => Problem::ManyStarts { starts: starts.to_vec() },
        };
        self.problems.push(problem);
        None
    }

    /// The exits of each node, in the order of the nodes.
    fn exits(&mut self, edges: &'b [Edge]) -> Vec<Vec<Exit>> {
        let mut exits: Vec<Vec<Exit>> =
            self.nodes.iter().map(|(_, declared)| Vec::with_capacity(declared.len())).collect();
        let mut borne: Vec<Borne<'b>> =
            self.nodes.iter().map(|(_, declared)| Borne::none(declared)).collect();
        for edge in edges {
            let Edge { from, action, to } = edge;
            let target = match to {
                None => Some(Target::End),
                Some(to) => self.index.get(to.as_str()).copied().map(Target::Node),
            };
            if let (None, Some(to)) = (target, to.clone()) {
                let (from, action, nodes) = (from.clone(), action.clone(), self.names());
                self.problems.push(Problem::UnknownTarget { from, action, to, nodes });
            }
            let found = self.index.get(from.as_str()).copied();
            let found = found.and_then(|index| {
                Some((self.nodes.get(index)?, exits.get_mut(index)?, borne.get_mut(index)?))
            });
            let Some(((_, declared), known, borne)) = found else {
                let (from, action, nodes) = (from.clone(), action.clone(), self.names());
                self.problems.push(Problem::UnknownSource { from, action, nodes });
                continue;
            };
            match borne.mark(action) {
                None => {
                    let (from, action, declared) = (from.clone(), action.clone(), Arc::clone(declared));
                    self.problems.push(Problem::UndeclaredAction { from, action, declared });
                }
                Some(true) => {
                    let (from, action) = (from.clone(), action.clone());
                    self.problems.push(Problem::DuplicateEdge { from, action });
                }
                // An unknown target is reported already; the edge still answers its action.
                Some(false) => {
                    known.push(Exit { action: action.clone(), target: target.unwrap_or(Target::End) });
                }
            }
        }
        for ((name, _), borne) in self.nodes.iter().zip(borne) {
            for action in borne.unmarked() {
                let (node, action) = ((*name).to_owned(), action.clone());
                self.problems.push(Problem::ActionLeadsNowhere { node, action });
            }
        }
        exits
    }

    /// The names of all nodes: one list, however many problems carry it, and none where there are none.
    fn names(&self) -> Arc<[String]> {
        let names = || self.nodes.iter().map(|(name, _)| (*name).to_owned()).collect();
        Arc::clone(self.names.get_or_init(names))
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

/// Which of the actions that a node declares an edge bears.
struct Borne<'b> {
    declared: &'b [Action],
    marks: Vec<bool>,
    /// Where there are too many to look through.
    places: HashMap<&'b Action, usize>,
}

impl<'b> Borne<'b> {
    /// As many are looked through faster than looked up.
    const FEW: usize = 16;

    fn none(declared: &'b [Action]) -> Self {
        let mut places = HashMap::new();
        if declared.len() > Self::FEW {
            for (place, action) in declared.iter().enumerate() {
                places.entry(action).or_insert(place);
            }
        }
        Self { declared, marks: vec![false; declared.len()], places }
    }

    /// Marks an action; answers whether it was marked before, and nothing if it is not declared.
    fn mark(&mut self, action: &Action) -> Option<bool> {
        let place = self.place(action)?;
        self.marks.get_mut(place).map(|mark| std::mem::replace(mark, true))
    }

    /// Where an action is declared first.
    fn place(&self, action: &Action) -> Option<usize> {
        if self.places.is_empty() {
            self.declared.iter().position(|declared| declared == action)
        } else {
            self.places.get(action).copied()
        }
    }

    /// Those that are not marked, each once.
    fn unmarked(&self) -> impl Iterator<Item = &'b Action> {
        let places = self.declared.iter().zip(&self.marks).enumerate();
        let unmarked =
            places.filter(|(place, (action, marked))| !**marked && self.place(action) == Some(*place));
        unmarked.map(|(_, (action, _))| action)
    }
}
