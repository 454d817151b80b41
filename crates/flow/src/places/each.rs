use std::fmt;
use std::num::NonZeroUsize;

use super::around::Around;
use crate::execute::graph::{Visit, Visited};
use crate::execute::here::Here;
use crate::execute::inside::{Part, all_of, finish};
use crate::wiring::Inside;
use crate::{Action, Flow, GraphNodeKind, IntoAction, IntoResult};

/// A flow that runs once for each of many items, all in one visit of the flow around it.
///
/// `split` creates the items from the state, `flow` runs over each item as its own state, and
/// `join` receives all items, in order, when they are done. `split` and `join` may fail, and `join`
/// may choose the [action](Each::with_actions). The state doesn't change in between, so
/// a run that stops before `join` leaves it as it was. If an item fails, the others are dropped at
/// their current `await`, and the error contains the index of the item. If there are no items,
/// `join` receives an empty list.
///
/// Wrap retries, timeouts and fallbacks around the nodes of `flow` to apply them to each item.
/// Steps inside count towards the run's maximum number of steps.
///
/// ```
/// use cogwork_flow::{Each, Flow, from_fn};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// struct Page { url: String, length: usize }
///
/// let fetch = from_fn(|page: &mut Page| page.length = page.url.len());
///
/// let flow = Flow::builder("crawl")
///     .each("pages", Each::at_most(
///         4,
///         Flow::from_node("fetch", fetch)?,
///         |urls: &Vec<String>| urls.iter().map(|url| Page { url: url.clone(), length: 0 }).collect::<Vec<_>>(),
///         |urls, pages| *urls = pages.iter().map(|page| format!("{} ({})", page.url, page.length)).collect(),
///     ))
///     .chain(["pages"])
///     .build()?;
///
/// let mut urls = vec!["a.org".to_owned(), "bb.org".to_owned()];
/// flow.run(&mut urls).await?;
/// assert_eq!(urls, ["a.org (5)", "bb.org (6)"]);
/// # Ok(())
/// # }
/// ```
pub struct Each<S, I> {
    flow: Flow<I>,
    at_most: NonZeroUsize,
    around: Around<S, I, I>,
}

impl<S, I> Each<S, I> {
    /// Creates an `Each` that processes one item at a time.
    pub fn in_turn<R, A>(
        flow: Flow<I>,
        split: impl Fn(&S) -> R + Send + Sync + 'static,
        join: impl Fn(&mut S, Vec<I>) -> A + Send + Sync + 'static,
    ) -> Self
    where
        R: IntoResult<Vec<I>>,
        A: IntoAction,
    {
        Self::at_most(1, flow, split, join)
    }

    /// Creates an `Each` that processes up to `at_most` items concurrently; 0 counts as 1.
    pub fn at_most<R, A>(
        at_most: usize,
        flow: Flow<I>,
        split: impl Fn(&S) -> R + Send + Sync + 'static,
        join: impl Fn(&mut S, Vec<I>) -> A + Send + Sync + 'static,
    ) -> Self
    where
        R: IntoResult<Vec<I>>,
        A: IntoAction,
    {
        let at_most = NonZeroUsize::new(at_most).unwrap_or(NonZeroUsize::MIN);
        Self {
            flow,
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
        let inside = Inside {
            at_most: Some(self.at_most.get()),
            ..Inside::of(GraphNodeKind::Each)
        };
        inside.with(self.flow.name(), &self.flow.graph.wiring)
    }
}

impl<S: Send, I: Send> Visit<S> for Each<S, I> {
    fn visit<'a>(&'a self, state: &'a mut S, _: &'a [usize], here: Here<'a>) -> Visited<'a> {
        Box::pin(async move {
            let items = self.around.split(state)?.into_iter().enumerate();
            let works = items.map(|(index, mut item)| async move {
                let part = Part::Item(index);
                finish(here, &self.flow.graph, part, &mut item).await?;
                Ok(item)
            });
            let items = all_of(here, self.at_most.get(), works.collect()).await?;

            Ok(self.around.join(state, items)?)
        })
    }
}

impl<S, I> fmt::Debug for Each<S, I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Each")
            .field("flow", &self.flow)
            .field("at_most", &self.at_most)
            .finish_non_exhaustive()
    }
}
