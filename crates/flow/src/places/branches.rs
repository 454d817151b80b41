use std::fmt;
use std::sync::Arc;

use crate::boxed::BoxFuture;
use crate::execute::failure::Failure;
use crate::execute::graph::{Visit, Visited};
use crate::execute::here::Here;
use crate::execute::inside::{Part, all_of, finish};
use crate::wiring::{Inside, Wiring};
use crate::{Action, BoxError, Flow, GraphNodeKind, IntoResult, Phase};

/// Several flows that run concurrently over parts of the state, in one visit.
///
/// For each branch, `split` creates its state and its flow runs over that state. When all branches
/// are done, each `join` stores its part, in the order in which the branches were added, and the
/// run leaves on the default action. The state
/// doesn't change in between, so a run that stops before that leaves it as it was. If a branch
/// fails, the others are dropped at their current `await`. All branches run concurrently.
///
/// ```
/// use cogwork_flow::{Branches, Flow, from_fn};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// struct Text { text: String, words: usize, capitals: usize }
///
/// let words = from_fn(|(text, words): &mut (String, usize)| *words = text.split(' ').count());
/// let capitals = from_fn(|(text, found): &mut (String, usize)| {
///     *found = text.matches(char::is_uppercase).count();
/// });
///
/// let part = |text: &Text| (text.text.clone(), 0);
/// let flow = Flow::builder("statistics")
///     .branches("count", Branches::new()
///         .branch("words", Flow::from_node("words", words)?, part, |text, (_, words)| text.words = words)
///         .branch("capitals", Flow::from_node("capitals", capitals)?, part, |text, (_, capitals)| text.capitals = capitals))
///     .chain(["count"])
///     .build()?;
///
/// let mut text = Text { text: "To Be or not".to_owned(), words: 0, capitals: 0 };
/// flow.run(&mut text).await?;
/// assert_eq!((text.words, text.capitals), (4, 2));
/// # Ok(())
/// # }
/// ```
pub struct Branches<S> {
    branches: Vec<(String, Box<dyn Branch<S>>)>,
}

impl<S: 'static> Branches<S> {
    /// Creates an empty set of branches. Visiting it does nothing.
    pub fn new() -> Self {
        Self {
            branches: Vec::new(),
        }
    }

    /// Adds a branch. `split` creates its state from the whole state, and `join` stores its part in
    /// the whole state. Both may fail.
    #[must_use]
    pub fn branch<T, R, J>(
        mut self,
        name: impl Into<String>,
        flow: Flow<T>,
        split: impl Fn(&S) -> R + Send + Sync + 'static,
        join: impl Fn(&mut S, T) -> J + Send + Sync + 'static,
    ) -> Self
    where
        T: Send + 'static,
        R: IntoResult<T>,
        J: IntoResult<()>,
    {
        let split = move |state: &S| split(state).into_result();
        let join = move |state: &mut S, part| join(state, part).into_result();
        self.branches
            .push((name.into(), Box::new(OverPart { flow, split, join })));
        self
    }

    pub(crate) fn inside(&self) -> Inside {
        let branches = self.branches.iter();
        branches.fold(
            Inside::of(GraphNodeKind::Branches),
            |inside, (name, branch)| inside.with(name, branch.wiring()),
        )
    }
}

impl<S: 'static> Default for Branches<S> {
    fn default() -> Self {
        Self::new()
    }
}

/// Stores the part of a branch in the whole state.
type Join<'a, S> = Box<dyn FnOnce(&mut S) -> Result<(), BoxError> + Send + 'a>;

/// A branch without the type of its state.
trait Branch<S>: Send + Sync {
    fn wiring(&self) -> &Arc<Wiring>;

    fn run<'a>(
        &'a self,
        name: &'a str,
        state: &S,
        here: Here<'a>,
    ) -> BoxFuture<'a, Result<Join<'a, S>, Failure>>;
}

struct OverPart<T, Split, Put> {
    flow: Flow<T>,
    split: Split,
    join: Put,
}

impl<S, T, Split, Put> Branch<S> for OverPart<T, Split, Put>
where
    T: Send,
    Split: Fn(&S) -> Result<T, BoxError> + Send + Sync,
    Put: Fn(&mut S, T) -> Result<(), BoxError> + Send + Sync,
{
    fn wiring(&self) -> &Arc<Wiring> {
        &self.flow.graph.wiring
    }

    fn run<'a>(
        &'a self,
        name: &'a str,
        state: &S,
        here: Here<'a>,
    ) -> BoxFuture<'a, Result<Join<'a, S>, Failure>> {
        let part = (self.split)(state);

        Box::pin(async move {
            let mut part = part.map_err(|error| Failure::node(Phase::Prep, error))?;
            finish(here, &self.flow.graph, Part::Branch(name), &mut part).await?;
            let join: Join<'a, S> = Box::new(move |state| (self.join)(state, part));
            Ok(join)
        })
    }
}

impl<S: Send> Visit<S> for Branches<S> {
    fn visit<'a>(&'a self, state: &'a mut S, _: &'a [usize], here: Here<'a>) -> Visited<'a> {
        Box::pin(async move {
            let branches = self.branches.iter();
            let works = branches.map(|(name, branch)| branch.run(name, state, here));

            // Collected, so that nothing borrows the state any more.
            let works: Vec<_> = works.collect();
            let joins = all_of(here, works.len(), works).await?;

            for join in joins {
                join(state).map_err(|error| Failure::node(Phase::Post, error))?;
            }

            Ok(Action::DEFAULT)
        })
    }
}

impl<S> fmt::Debug for Branches<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list()
            .entries(self.branches.iter().map(|(name, _)| name))
            .finish()
    }
}
