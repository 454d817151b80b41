use std::fmt;
use std::num::NonZeroUsize;

use super::around::Around;
use crate::execute::failure::Failure;
use crate::execute::graph::{Visit, Visited};
use crate::execute::here::Here;
use crate::execute::inside::all_of;
use crate::execute::node::exec;
use crate::wiring::Inside;
use crate::{Action, GraphNodeKind, IntoAction, IntoResult, Node, Phase};

/// The work of a node on each of many items, all in one step.
///
/// `split` creates the items from the state, `node` works on each item, and `join` receives all
/// outcomes, in the order of the items, when they are done. `split` and `join` take the place of
/// `prep` and `post`: both may fail, and `join` may choose the [action](Batch::with_actions). The
/// state doesn't change in between, so a run that stops before `join` leaves it as it was. If an
/// item fails, the others are dropped at their current `await`, and the error contains the index of
/// the item. If there are no items, `join` receives an empty list.
///
/// For each item, `prep` and `exec` of the node are called, but neither its `post` nor its actions
/// are used. [`from_exec`](crate::from_exec) creates such a node. To run whole nodes or flows, with
/// the items as their states, use [`Each`](crate::Each). Wrap retries, timeouts and fallbacks around
/// `node` to apply them to each item. With a journal, the outcome of each item is recorded
/// separately.
///
/// ```
/// use std::time::Duration;
/// use cogwork_flow::{Backoff, Batch, Flow, Node, from_exec};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// struct Crawl { urls: Vec<String>, lengths: Vec<usize> }
///
/// let fetch = from_exec(|url: String| async move { Ok::<_, std::io::Error>(url.len()) })
///     .timeout(Duration::from_secs(5))
///     .retry(Backoff::default());
/// let flow = Flow::builder("crawl")
///     .batch("fetch", Batch::at_most(
///         4,
///         fetch,
///         |crawl: &Crawl| crawl.urls.clone(),
///         |crawl, lengths| crawl.lengths = lengths,
///     ))
///     .chain(["fetch"])
///     .build()?;
///
/// let mut crawl = Crawl { urls: vec!["a.org".into(), "bb.org".into()], lengths: Vec::new() };
/// flow.run(&mut crawl).await?;
/// assert_eq!(crawl.lengths, [5, 6]);
/// # Ok(())
/// # }
/// ```
pub struct Batch<S, I, N: Node<I>> {
    node: N,
    at_most: NonZeroUsize,
    around: Around<S, I, N::Exec>,
}

impl<S, I, N: Node<I>> Batch<S, I, N> {
    /// Creates a batch that processes one item at a time.
    pub fn in_turn<R, A>(
        node: N,
        split: impl Fn(&S) -> R + Send + Sync + 'static,
        join: impl Fn(&mut S, Vec<N::Exec>) -> A + Send + Sync + 'static,
    ) -> Self
    where
        R: IntoResult<Vec<I>>,
        A: IntoAction,
    {
        Self::at_most(1, node, split, join)
    }

    /// Creates a batch that processes up to `at_most` items concurrently; 0 counts as 1.
    pub fn at_most<R, A>(
        at_most: usize,
        node: N,
        split: impl Fn(&S) -> R + Send + Sync + 'static,
        join: impl Fn(&mut S, Vec<N::Exec>) -> A + Send + Sync + 'static,
    ) -> Self
    where
        R: IntoResult<Vec<I>>,
        A: IntoAction,
    {
        let at_most = NonZeroUsize::new(at_most).unwrap_or(NonZeroUsize::MIN);
        Self {
            node,
            at_most,
            around: Around::new(split, join),
        }
    }

    /// Sets the actions that `join` may return.
    ///
    /// # Default
    ///
    /// Only [`Action::DEFAULT`].
    #[must_use]
    pub fn with_actions<L: Into<Action>>(mut self, actions: impl IntoIterator<Item = L>) -> Self {
        self.around.set_actions(actions);
        self
    }

    pub(crate) fn actions(&self) -> Vec<Action> {
        self.around.actions()
    }

    pub(crate) fn inside(&self) -> Inside {
        Inside {
            at_most: Some(self.at_most.get()),
            ..Inside::of(GraphNodeKind::Batch)
        }
    }

    /// Splits the state into items and calls `prep` for each.
    fn prepare(&self, state: &S) -> Result<Vec<N::Prep>, Failure> {
        let mut items = self.around.split(state)?;
        let preps = items.iter_mut().enumerate().map(|(index, item)| {
            let prep = self.node.prep(item);
            prep.map_err(|error| Failure::node(Phase::Prep, error).of_item(index))
        });

        preps.collect()
    }

    async fn outcome(
        &self,
        index: usize,
        prep: &N::Prep,
        here: Here<'_>,
    ) -> Result<N::Exec, Failure> {
        let outcome = match here.step {
            None => {
                let exec = self.node.exec(prep).await;
                exec.map_err(|error| Failure::node(Phase::Exec, error))
            }
            Some(step) => {
                let item = step.named(step.name.of_item(index));
                exec(&self.node, prep, &item).await
            }
        };

        outcome.map_err(|failure| failure.of_item(index))
    }
}

impl<S: Send, I, N: Node<I>> Visit<S> for Batch<S, I, N> {
    fn visit<'a>(&'a self, state: &'a mut S, _: &'a [usize], here: Here<'a>) -> Visited<'a> {
        Box::pin(async move {
            let preps = self.prepare(state)?;
            let works = preps.iter().enumerate();
            let works = works.map(|(index, prep)| self.outcome(index, prep, here));
            let outcomes = all_of(here, self.at_most.get(), works.collect()).await?;

            Ok(self.around.join(state, outcomes)?)
        })
    }
}

impl<S, I, N: Node<I> + fmt::Debug> fmt::Debug for Batch<S, I, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Batch")
            .field("node", &self.node)
            .field("at_most", &self.at_most)
            .finish_non_exhaustive()
    }
}
