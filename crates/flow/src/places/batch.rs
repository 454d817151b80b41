use std::fmt;
use std::num::NonZeroUsize;
use std::pin::pin;

use futures_util::{StreamExt, TryStreamExt, stream};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::around::Around;
use crate::current::Current;
use crate::execute::call::{Call, tried};
use crate::execute::composite;
use crate::execute::failure::Failure;
use crate::execute::here::Here;
use crate::execute::inside::{self, Finished};
use crate::execute::journaled::Journaled;
use crate::execute::named_step::NamedStep;
use crate::execute::visit::{ExecItem, SentItem, Visit, Visited};
use crate::execute::yielding::give_way;
use crate::failed::Failed;
use crate::journal::{EachItem, Items, OutcomeProblemKind, Work, WorkError, decode, encode};
use crate::wiring::Inside;
use crate::{Action, BoxError, IntoAction, IntoResult, Node, Phase};

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
/// Items must be serialisable, so that an engine can send them to a different process. That process
/// calls [`Flow::exec_item`](crate::Flow::exec_item) on the same flow. The items of a
/// [composite](Node::is_composite) node aren't sent, because its calls are recorded in this process.
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
        Inside::Batch {
            at_most: self.at_most.get(),
        }
    }

    /// Splits the state into items and calls `prep` for each.
    fn prepare(&self, state: &S) -> Result<Prepared<I, N::Prep>, Failure> {
        let mut items = self.around.split(state)?;
        let preps = items.iter_mut().enumerate().map(|(index, item)| {
            self.node
                .prep(item)
                .map_err(|error| of_item(Phase::Prep, error.into(), index))
        });

        let preps = preps.collect::<Result<_, _>>()?;
        Ok(Prepared { items, preps })
    }

    /// Returns the outcomes of a run without a journal.
    async fn outcomes(
        &self,
        preps: &[N::Prep],
        step: Option<&NamedStep<'_>>,
    ) -> Result<Vec<N::Exec>, Failure> {
        let runs = preps.iter().enumerate().map(|(index, prep)| async move {
            give_way(index).await;
            let exec = match step {
                None => self.node.exec(prep).await,
                Some(step) => {
                    let exec = pin!(self.node.exec(prep));
                    step.of_item(index).exec(exec).await
                }
            };
            let exec = exec.map_err(|error| of_item(Phase::Exec, error.into(), index))?;

            Ok::<_, Failure>((index, exec))
        });

        // Unordered, so that the first error is seen immediately and stops the others.
        let runs = stream::iter(runs.collect::<Vec<_>>()).buffer_unordered(self.at_most.get());
        let mut outcomes: Vec<_> = runs.try_collect().await?;
        outcomes.sort_unstable_by_key(|(index, _)| *index);

        Ok(outcomes.into_iter().map(|(_, exec)| exec).collect())
    }

    /// Returns the recorded outcomes, and creates those that are missing.
    async fn recorded_outcomes(
        &self,
        prepared: &Prepared<I, N::Prep>,
        step: &NamedStep<'_>,
        journal: &Journaled<'_>,
    ) -> Result<Vec<N::Exec>, Failure>
    where
        I: Serialize + Send + Sync,
    {
        let Prepared { items, preps } = prepared;
        let max_outcome = journal.max_outcome;
        let steps: Vec<_> = (0..items.len()).map(|index| step.of_item(index)).collect();
        let calls = preps.iter().zip(&steps);
        let calls = calls.map(|(prep, step)| Call::new(&self.node, prep, step, max_outcome));
        let calls: Vec<_> = calls.collect();

        let at_most = self.at_most.get();
        let sent = Sendable {
            items,
            calls: &calls,
            at_most,
            steps: &steps,
            max_outcome,
        };

        let recorded = journal.fan_out(&step.name, Items::new(&sent)).await?;
        if recorded.len() != items.len() {
            let outcomes = recorded.len();
            let items = items.len();
            let problem = format!("the journal returned {outcomes} outcomes for {items} items");
            return Err(Failure::Journal(problem.into()));
        }

        let mut outcomes = Vec::with_capacity(items.len());
        for (index, (call, bytes)) in calls.iter().zip(&recorded).enumerate() {
            let outcome = call.outcome(bytes).await;
            outcomes.push(outcome.map_err(|failure| failure.of_item(index))?);
        }

        Ok(outcomes)
    }

    /// Returns the outcomes of a composite node, whose calls are recorded in this process.
    async fn composite_outcomes(
        &self,
        preps: &[N::Prep],
        step: &NamedStep<'_>,
        journal: &Journaled<'_>,
    ) -> Result<Vec<N::Exec>, Failure> {
        let in_order = journal.in_order();
        let at_most = if in_order { 1 } else { self.at_most.get() };

        let runs = preps.iter().enumerate().map(|(index, prep)| async move {
            give_way(index).await;
            let step = step.of_item(index);
            let outcome = composite::exec(&self.node, prep, &step, journal).await;
            Finished {
                index,
                result: outcome.map_err(|failure| failure.of_item(index)),
            }
        });

        let runs = stream::iter(runs.collect::<Vec<_>>()).buffer_unordered(at_most);
        inside::all_of(runs, in_order).await
    }
}

/// The items and the return values of `prep`.
struct Prepared<I, P> {
    items: Vec<I>,
    preps: Vec<P>,
}

fn of_item(phase: Phase, error: BoxError, index: usize) -> Failure {
    Failed::new(phase, error).of_item(index).into()
}

impl<S, I, N> Visit<S> for Batch<S, I, N>
where
    S: Send,
    I: Serialize + DeserializeOwned + Send + Sync,
    N: Node<I>,
{
    fn visit<'a>(&'a self, state: &'a mut S, _: &'a [usize], here: Here<'a>) -> Visited<'a> {
        Box::pin(async move {
            let prepared = self.prepare(state)?;
            let journaled = here.step.and_then(|step| Some((step, step.journal()?)));
            let outcomes = match journaled {
                Some((step, journal)) if self.node.is_composite() => {
                    self.composite_outcomes(&prepared.preps, step, journal)
                        .await?
                }
                Some((step, journal)) if !prepared.items.is_empty() => {
                    self.recorded_outcomes(&prepared, step, journal).await?
                }
                _ => self.outcomes(&prepared.preps, here.step).await?,
            };

            Ok(self.around.join(state, outcomes)?)
        })
    }

    fn exec_item<'a>(&'a self, place: &[String], item: SentItem<'a>) -> Option<ExecItem<'a>> {
        if !place.is_empty() {
            return None;
        }

        Some(Box::pin(async move {
            let unreadable = |problem| Failed::new(Phase::Prep, problem);
            let sent = decode(item.data, OutcomeProblemKind::Unreadable).map_err(unreadable)?;
            let Sent::<I> {
                key,
                max_outcome,
                item: mut data,
            } = sent;

            let prep = self.node.prep(&mut data);
            let prep = prep.map_err(|error| Failed::new(Phase::Prep, error))?;
            let exec = pin!(tried(&self.node, &prep, item.attempt));
            let exec = Current::Item(key.into()).during(exec).await?;

            encode(&exec, max_outcome).map_err(|problem| Failed::new(Phase::Exec, problem).into())
        }))
    }
}

/// An item that is sent to a different process, with the data of its step.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Sent<I> {
    key: String,
    max_outcome: usize,
    item: I,
}

/// Returns the idempotency key of an item that another process sent. `None` if the data isn't that of
/// an item, which is noticed once it is read.
pub(crate) fn key_of(data: &[u8]) -> Option<String> {
    #[derive(Deserialize)]
    struct Keyed {
        key: String,
    }

    let keyed: Keyed = serde_json::from_slice(data).ok()?;
    Some(keyed.key)
}

/// The items of a batch, for a journal.
struct Sendable<'a, I, N: Node<I>> {
    items: &'a [I],
    calls: &'a [Call<'a, I, N>],
    at_most: usize,
    steps: &'a [NamedStep<'a>],
    max_outcome: usize,
}

impl<I: Serialize + Send + Sync, N: Node<I>> EachItem for Sendable<'_, I, N> {
    fn len(&self) -> usize {
        self.items.len()
    }

    fn at_most(&self) -> usize {
        self.at_most
    }

    fn data(&self, index: usize) -> Result<Vec<u8>, WorkError> {
        let Some((item, step)) = self.items.get(index).zip(self.steps.get(index)) else {
            return Err(Failed::new(Phase::Prep, format!("there is no item {index}")).into());
        };

        let key = step.key().unwrap_or_default();
        let sent = Sent {
            key,
            max_outcome: self.max_outcome,
            item,
        };

        encode(&sent, self.max_outcome)
            .map_err(|problem| Failed::new(Phase::Prep, problem).of_item(index).into())
    }

    fn work(&self, index: usize) -> Option<Work<'_>> {
        self.calls.get(index).map(|call| Work::new(call))
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
