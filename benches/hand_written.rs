//! The loop a programmer writes who has no flow crate: nodes as boxed closures that return boxed futures, and edges with
//! the index of the next one. No check of the wiring, no limit, no place in errors.

use std::error::Error;
use std::pin::Pin;

/// Any error.
pub type BoxError = Box<dyn Error + Send + Sync>;

/// What a node returns: its action, in time.
pub type BoxFuture<'a> = Pin<Box<dyn Future<Output = Result<&'static str, BoxError>> + Send + 'a>>;

type BoxedNode<S> = Box<dyn for<'a> Fn(&'a mut S) -> BoxFuture<'a> + Send + Sync>;

/// The index of the next node by action; `None` is an end.
type Edges = Vec<(&'static str, Option<usize>)>;

/// Nodes with their edges. The first one is the start.
pub struct HandWritten<S>(Vec<(BoxedNode<S>, Edges)>);

impl<S> HandWritten<S> {
    /// Creates a loop of one node, which is repeated as long as it returns `again`.
    pub fn repeated(
        node: impl for<'a> Fn(&'a mut S) -> BoxFuture<'a> + Send + Sync + 'static,
        again: &'static str,
        stop: &'static str,
    ) -> Self {
        let edges = vec![(again, Some(0)), (stop, None)];
        Self(vec![(Box::new(node), edges)])
    }

    /// Runs to an end.
    ///
    /// # Errors
    ///
    /// Returns the error of a node, or an error if there is no edge for its action.
    pub async fn run(&self, state: &mut S) -> Result<(), BoxError> {
        let mut at = 0;
        loop {
            let (node, edges) = self.0.get(at).ok_or("no such node")?;
            let action = node(state).await?;
            match edges.iter().find(|(label, _)| *label == action) {
                Some((_, Some(next))) => at = *next,
                Some((_, None)) => return Ok(()),
                None => return Err(format!("no edge for {action}").into()),
            }
        }
    }
}
