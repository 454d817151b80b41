//! Work on each of many items, all in one visit.

use crate::draw::GraphNodeKind;
use crate::engine::Part;
use crate::execute::context::Here;
use crate::execute::cursor::At;
use crate::execute::failure::Failure;
use crate::execute::inner_work::{all_of, finish};
use crate::execute::node::exec;
use crate::execute::visit::{Visit, Visited};
use crate::nodes::{IntoResult, Phase};
use crate::watch::EventKind;
use crate::wiring::Inside;
use crate::{Action, BoxError, Flow, IntoAction, Node};

/// A flow that runs once for each of many items, all in one visit of the flow around it.
///
/// `split` creates the items from the state, `flow` runs over each item as its own state, and
/// `join` receives all items, in order, when they are done. `split` and `join` may fail, and `join`
/// may choose the [action](Items::with_actions). The state doesn't change in between, so
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
pub type Each<S, I> = Items<S, I, I, Flow<I>>;

/// The work of a node on each of many items, all in one step.
///
/// `split` creates the items from the state, `node` works on each item, and `join` receives all
/// outcomes, in the order of the items, when they are done. `split` and `join` take the place of
/// `prep` and `post`: both may fail, and `join` may choose the [action](Items::with_actions). The
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
pub type Batch<S, I, N> = Items<S, I, <N as Node<I>>::Exec, N>;

/// Work on each of many items: an [`Each`] or a [`Batch`].
pub struct Items<S, I, O, W> {
    pub(crate) work: W,
    at_most: usize,
    split: Box<Split<S, I>>,
    join: Box<Join<S, O>>,
    text: Option<Box<ItemText<I>>>,
    pub(crate) actions: Vec<Action>,
}

type ItemText<I> = dyn Fn(&I) -> String + Send + Sync;
type Split<S, I> = dyn Fn(&S) -> Result<Vec<I>, BoxError> + Send + Sync;
type Join<S, O> = dyn Fn(&mut S, Vec<O>) -> Result<Action, BoxError> + Send + Sync;

impl<S, I, O, W> Items<S, I, O, W> {
    /// Processes up to `at_most` items concurrently: with 1, one after the other. 0 counts as 1.
    pub fn at_most<R, A>(
        at_most: usize,
        work: W,
        split: impl Fn(&S) -> R + Send + Sync + 'static,
        join: impl Fn(&mut S, Vec<O>) -> A + Send + Sync + 'static,
    ) -> Self
    where
        R: IntoResult<Vec<I>>,
        A: IntoAction,
    {
        Self {
            work,
            // With 0, no item would be begun, and `join` would get an empty list.
            at_most: at_most.max(1),
            split: Box::new(move |state| split(state).into_result()),
            join: Box::new(move |state, outcomes| join(state, outcomes).into_result()),
            text: None,
            actions: vec![Action::DEFAULT],
        }
    }

    /// Sets what people who watch the run see of an item, as in the page of a run. By default, they only
    /// see its index.
    #[must_use]
    pub fn with_item_text(mut self, text: impl Fn(&I) -> String + Send + Sync + 'static) -> Self {
        self.text = Some(Box::new(text));
        self
    }

    /// Sets the actions that `join` may return.
    ///
    /// # Default
    ///
    /// Only [`Action::DEFAULT`].
    #[must_use]
    pub fn with_actions<L: Into<Action>>(mut self, actions: impl IntoIterator<Item = L>) -> Self {
        self.actions = actions.into_iter().map(Into::into).collect();
        self
    }

    pub(crate) fn inside(&self, kind: GraphNodeKind) -> Inside {
        Inside {
            at_most: Some(self.at_most),
            ..Inside::of(kind)
        }
    }

    fn split(&self, state: &S, here: Here<'_>) -> Result<Vec<I>, Failure> {
        let items = (self.split)(state).map_err(|error| Failure::node(Phase::Prep, error))?;

        // A text is only made if somebody could see it.
        if let (Some(text), Some(step)) = (&self.text, here.step) {
            for (index, item) in items.iter().enumerate() {
                let step = step.named(step.name.of_item(index));
                step.emit(|| EventKind::Item { text: text(item) });
            }
        }
        Ok(items)
    }

    /// Does the works, and stores their outcomes in the state.
    async fn join(
        &self,
        state: &mut S,
        here: Here<'_>,
        works: Vec<impl Future<Output = Result<O, Failure>>>,
    ) -> Result<Action, Box<Failure>> {
        let outcomes = all_of(here, self.at_most, works).await?;
        let joined = (self.join)(state, outcomes);
        joined.map_err(|error| Failure::node(Phase::Post, error).into())
    }
}

impl<S: Send, I: Send> Visit<S> for Each<S, I> {
    fn visit<'a>(&'a self, state: &'a mut S, _: &'a [At<'a>], here: Here<'a>) -> Visited<'a> {
        Box::pin(async move {
            let items = self.split(state, here)?.into_iter().enumerate();
            let works = items.map(|(index, mut item)| async move {
                finish(here, &self.work, Part::Item(index), &mut item).await?;
                Ok(item)
            });

            self.join(state, here, works.collect()).await
        })
    }
}

impl<S, I, N: Node<I>> Batch<S, I, N> {
    /// Splits the state into items and calls `prep` for each.
    fn prepare(&self, state: &S, here: Here<'_>) -> Result<Vec<N::Prep>, Failure> {
        let mut items = self.split(state, here)?;
        let preps = items.iter_mut().enumerate().map(|(index, item)| {
            let prep = self.work.prep(item);
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
        let item = here.step.map(|step| step.named(step.name.of_item(index)));
        let outcome = exec(&self.work, prep, item.as_ref()).await;
        outcome.map_err(|failure| failure.of_item(index))
    }
}

/// A type of its own, because a `Flow` might be a node in another crate.
pub(crate) struct BatchVisit<S, I, N: Node<I>>(pub(crate) Batch<S, I, N>);

impl<S: Send, I, N: Node<I>> Visit<S> for BatchVisit<S, I, N> {
    fn visit<'a>(&'a self, state: &'a mut S, _: &'a [At<'a>], here: Here<'a>) -> Visited<'a> {
        Box::pin(async move {
            // All before any `exec`, so that an item that cannot be prepared costs no work.
            let preps = self.0.prepare(state, here)?;
            let works = preps.iter().enumerate();
            let works = works.map(|(index, prep)| self.0.outcome(index, prep, here));
            self.0.join(state, here, works.collect()).await
        })
    }
}
