use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use crate::check::{Edges, check};
use crate::draw::GraphNodeKind;
use crate::execute::node::NodeVisit;
use crate::execute::visit::{Subflow, Visit};
use crate::places::items::BatchVisit;
use crate::places::wait::Sleep;
use crate::wiring::{Exit, Inside, Place, Target, Wiring};
use crate::{Action, Batch, Branches, BuildError, Each, Flow, Node, Wait};

/// A builder that connects nodes by name. Created by [`Flow::builder`].
///
/// The order of the calls doesn't matter: [`build`](FlowBuilder::build) looks up all names and
/// reports every problem at once.
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
/// - the edge from `read` on `done` is never taken: `read` declares `default` (a node made of closures declares others by `with_actions`)
/// - node `read` declares the action `default`, which leads nowhere; add an edge or an end for it");
/// ```
#[must_use = "a flow is made by `build`"]
pub struct FlowBuilder<S> {
    name: String,
    starts: Vec<String>,
    places: Vec<Place>,
    /// The exits of each place, which `build` connects.
    exits: Vec<Vec<Exit>>,
    visits: Vec<Box<dyn Visit<S>>>,
    edges: Edges,
}

impl<S> Flow<S> {
    /// Creates a builder for a flow with this name. The name appears in errors and drawings.
    pub fn builder(name: impl Into<String>) -> FlowBuilder<S> {
        FlowBuilder {
            name: name.into(),
            starts: Vec::new(),
            places: Vec::new(),
            exits: Vec::new(),
            visits: Vec::new(),
            edges: Edges::default(),
        }
    }
}

impl<S: Send + 'static> Flow<S> {
    /// Creates a flow of a single node, which ends on each action that the node declares. The name
    /// is that of the flow and of the node.
    ///
    /// ```
    /// use cogwork_flow::{Flow, from_fn};
    ///
    /// let count = from_fn(|n: &mut u32| *n += 1);
    /// let flow = Flow::from_node("count", count)?;
    /// # Ok::<(), cogwork_flow::BuildError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns a [`BuildError`] if the node declares no actions.
    pub fn from_node(
        name: impl Into<String>,
        node: impl Node<S> + 'static,
    ) -> Result<Self, BuildError> {
        let name = name.into();
        // A node may declare an action twice, but only one end may be added for it.
        let actions: BTreeSet<_> = node.actions().into_iter().collect();

        let builder = Self::builder(&name).start(&name).node(&name, node);
        let end = |builder: FlowBuilder<S>, action| builder.end(&name, action);
        actions.into_iter().fold(builder, end).build()
    }
}

impl<S> FlowBuilder<S> {
    fn add(
        mut self,
        name: impl Into<String>,
        actions: Vec<Action>,
        inside: impl Into<Option<Inside>>,
        visit: impl Visit<S> + 'static,
    ) -> Self {
        self.places.push(Place {
            name: name.into(),
            exits: Vec::new(),
            inside: inside.into().map(Box::new),
        });

        self.exits.push(unconnected(actions));
        self.visits.push(Box::new(visit));
        self
    }

    /// Sets the node at which a run starts. A flow has exactly one start.
    pub fn start(mut self, node: impl Into<String>) -> Self {
        let node = node.into();
        // A chain begins where the run starts, and may be next to `start`.
        if !self.starts.contains(&node) {
            self.starts.push(node);
        }
        self
    }

    /// Adds a node.
    pub fn node(self, name: impl Into<String>, node: impl Node<S> + 'static) -> Self
    where
        S: Send + 'static,
    {
        self.add(name, node.actions(), None, NodeVisit(node))
    }

    /// Adds a flow over a part of the state. The action on which it ends determines the edge to
    /// follow. To pass it the whole state, use `|state| state`. Up to 30 flows can be nested.
    pub fn subflow<T: 'static>(
        self,
        name: impl Into<String>,
        flow: Flow<T>,
        part: impl Fn(&mut S) -> &mut T + Send + Sync + 'static,
    ) -> Self
    where
        S: 'static,
    {
        // The flow around it needs an edge for each action on which this one ends.
        let actions = flow.actions();
        let inside = Inside::of(GraphNodeKind::Subflow).with(flow.name(), &flow.wiring);

        self.add(name, actions, inside, Subflow { flow, part })
    }

    /// Adds a flow that runs once for each of many items, all in one visit; see [`Each`].
    pub fn each<I>(self, name: impl Into<String>, each: Each<S, I>) -> Self
    where
        S: Send + 'static,
        I: Send + 'static,
    {
        let flow = &each.work;
        let inside = each.inside(GraphNodeKind::Each);
        let inside = inside.with(flow.name(), &flow.wiring);
        self.add(name, each.actions.clone(), inside, each)
    }

    /// Adds several flows that run concurrently in one visit; see [`Branches`].
    pub fn branches(self, name: impl Into<String>, branches: Branches<S>) -> Self
    where
        S: Send + 'static,
    {
        let inside = branches.inside();
        // Branches may end on different actions, so none of them can choose the edge.
        self.add(name, vec![Action::DEFAULT], inside, branches)
    }

    /// Adds a node that works on each of many items, all in one visit; see [`Batch`].
    pub fn batch<I, N>(self, name: impl Into<String>, batch: Batch<S, I, N>) -> Self
    where
        S: Send + 'static,
        I: 'static,
        N: Node<I> + 'static,
    {
        let inside = batch.inside(GraphNodeKind::Batch);
        self.add(name, batch.actions.clone(), inside, BatchVisit(batch))
    }

    /// Adds a place where the run waits for an external event; see [`Wait`].
    pub fn wait(self, name: impl Into<String>, wait: Wait<S>) -> Self
    where
        S: Send + 'static,
    {
        let inside = wait.inside();
        self.add(name, wait.actions(), inside, wait)
    }

    /// Adds a place where the run sleeps for the duration that the closure returns. Its action is
    /// [`Action::DEFAULT`].
    ///
    /// With a journal, the time during which the program isn't running counts: a resumed run only
    /// sleeps for the remaining time. Even if the clock was set back, it never sleeps for longer
    /// than the duration that the closure returns. Inside items and branches, a sleep needs a
    /// journal.
    pub fn sleep(
        self,
        name: impl Into<String>,
        duration: impl Fn(&S) -> Duration + Send + Sync + 'static,
    ) -> Self
    where
        S: Send + 'static,
    {
        let inside = Inside::of(GraphNodeKind::Sleep);
        self.add(name, vec![Action::DEFAULT], inside, Sleep(duration))
    }

    /// Connects nodes in a row: sets the first as the [start](Self::start), adds an
    /// [edge](Self::edge) on [`Action::DEFAULT`] from each node to the next, and an
    /// [end](Self::end) after the last.
    ///
    /// ```
    /// use cogwork_flow::{Flow, from_fn};
    ///
    /// let flow = Flow::builder("calculate")
    ///     .node("add", from_fn(|n: &mut u32| *n += 2))
    ///     .node("double", from_fn(|n: &mut u32| *n *= 2))
    ///     .chain(["add", "double"])
    ///     .build()?;
    /// # Ok::<(), cogwork_flow::BuildError>(())
    /// ```
    pub fn chain<L: AsRef<str>>(mut self, nodes: impl IntoIterator<Item = L>) -> Self {
        let mut nodes = nodes.into_iter();
        // An empty chain changes nothing, and `build` reports what is missing.
        let Some(mut last) = nodes.next() else {
            return self;
        };

        self = self.start(last.as_ref());
        for node in nodes {
            self = self.edge(last, Action::DEFAULT, &node);
            last = node;
        }

        self.end(last, Action::DEFAULT)
    }

    /// Adds an edge: after `from` returns `action`, the run visits `to`.
    pub fn edge(
        mut self,
        from: impl AsRef<str>,
        action: impl Into<Action>,
        to: impl AsRef<str>,
    ) -> Self {
        let to = Some(to.as_ref());
        self.edges.add(from.as_ref(), action.into(), to);
        self
    }

    /// Ends the flow after `from` returns `action`. Every action needs an edge or an end.
    pub fn end(mut self, from: impl AsRef<str>, action: impl Into<Action>) -> Self {
        self.edges.add(from.as_ref(), action.into(), None);
        self
    }

    /// Checks the whole graph and creates the flow.
    ///
    /// A flow may contain nodes from which it cannot end; see [`Flow::nodes_without_end`]. Only a
    /// subflow needs an end, because the flow around it continues there.
    ///
    /// # Errors
    ///
    /// Returns a [`BuildError`] with every [`WiringProblem`](crate::WiringProblem) of the graph.
    pub fn build(mut self) -> Result<Flow<S>, BuildError> {
        let checked = check(&self.places, self.exits, &self.starts, self.edges);
        let (start, exits) = match checked {
            Ok(checked) => checked,
            Err(problems) => return Err(BuildError::new(self.name, problems)),
        };

        for (place, exits) in self.places.iter_mut().zip(exits) {
            place.exits = exits;
        }

        let wiring = Wiring::new(self.name, start, self.places);
        Ok(Flow {
            wiring: Arc::new(wiring),
            visits: self.visits.into(),
        })
    }
}

/// Returns the exits for the actions that a node declares, sorted.
fn unconnected(mut actions: Vec<Action>) -> Vec<Exit> {
    actions.sort_unstable();
    // A node may declare an action twice, and one edge covers both.
    actions.dedup();

    let target = Target::Missing;
    let exits = actions.into_iter().map(|action| Exit { action, target });
    exits.collect()
}
