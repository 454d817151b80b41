//! The loops a programmer writes who has no flow crate: nodes as boxed closures that give boxed futures,
//! an action as a `&str`, edges looked up by it. No check of the wiring, no limit, no place in errors.

use std::collections::HashMap;
use std::error::Error;
use std::pin::Pin;

/// Any error.
pub type BoxError = Box<dyn Error + Send + Sync>;

/// What a node gives: its action, in time.
pub type BoxFuture<'a> = Pin<Box<dyn Future<Output = Result<&'static str, BoxError>> + Send + 'a>>;

type BoxedNode<S> = Box<dyn for<'a> Fn(&'a mut S) -> BoxFuture<'a> + Send + Sync>;

/// The index of the next node by action; `None` is an end.
pub type IndexedEdges = Vec<(&'static str, Option<usize>)>;

/// The name of the next node by action; `None` is an end.
pub type NamedEdges = HashMap<&'static str, Option<String>>;

/// Nodes in a list, edges that hold the index of the next: as fast as it can be written.
pub struct IndexedLoop<S> {
    places: Vec<(BoxedNode<S>, IndexedEdges)>,
}

impl<S> Default for IndexedLoop<S> {
    fn default() -> Self {
        Self { places: Vec::new() }
    }
}

impl<S> IndexedLoop<S> {
    /// Adds a node with its edges. The first one is the start.
    pub fn add(
        &mut self,
        node: impl for<'a> Fn(&'a mut S) -> BoxFuture<'a> + Send + Sync + 'static,
        edges: IndexedEdges,
    ) {
        self.places.push((Box::new(node), edges));
    }

    /// Runs to an end.
    ///
    /// # Errors
    ///
    /// A node's own, or that there is no edge for its action.
    pub async fn run(&self, state: &mut S) -> Result<(), BoxError> {
        let mut at = 0;
        loop {
            let (node, edges) = self.places.get(at).ok_or("no such node")?;
            let action = node(state).await?;
            match edges.iter().find(|(label, _)| *label == action) {
                Some((_, Some(next))) => at = *next,
                Some((_, None)) => return Ok(()),
                None => return Err(format!("no edge for {action}").into()),
            }
        }
    }
}

/// Nodes by name, each with its successors by action: as it is usually written.
pub struct NamedLoop<S> {
    places: HashMap<String, (BoxedNode<S>, NamedEdges)>,
}

impl<S> Default for NamedLoop<S> {
    fn default() -> Self {
        Self {
            places: HashMap::new(),
        }
    }
}

impl<S> NamedLoop<S> {
    /// Adds a node under a name, with its edges.
    pub fn add(
        &mut self,
        name: &str,
        node: impl for<'a> Fn(&'a mut S) -> BoxFuture<'a> + Send + Sync + 'static,
        edges: NamedEdges,
    ) {
        self.places.insert(name.to_owned(), (Box::new(node), edges));
    }

    /// Runs from the node of this name to an end.
    ///
    /// # Errors
    ///
    /// A node's own, or that there is no edge for its action.
    pub async fn run(&self, start: &str, state: &mut S) -> Result<(), BoxError> {
        let mut at = start;
        loop {
            let (node, edges) = self.places.get(at).ok_or("no such node")?;
            let action = node(state).await?;
            match edges.get(action) {
                Some(Some(next)) => at = next,
                Some(None) => return Ok(()),
                None => return Err(format!("no edge for {action}").into()),
            }
        }
    }
}
