use std::sync::Arc;

use crate::boxed::BoxFuture;
use crate::draw::GraphNodeKind;
use crate::engine::Part;
use crate::execute::context::Here;
use crate::execute::cursor::At;
use crate::execute::failure::Failure;
use crate::execute::inner_work::{all_of, finish};
use crate::execute::visit::{Visit, Visited};
use crate::nodes::{IntoResult, Phase};
use crate::wiring::{Inside, Wiring};
use crate::{Action, BoxError, Flow};

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
    branches: Vec<Branch<S>>,
}

/// A branch without the type of its state.
struct Branch<S> {
    name: String,
    flow: Arc<Wiring>,
    run: Box<Run<S>>,
}

/// Runs a branch of this name. Returns what stores its part in the whole state.
type Run<S> =
    dyn for<'a> Fn(&'a str, &S, Here<'a>) -> BoxFuture<'a, Result<Join<S>, Failure>> + Send + Sync;
type Join<S> = Box<dyn FnOnce(&mut S) -> Result<(), BoxError> + Send>;

impl<S: 'static> Branches<S> {
    /// Creates an empty set of branches. Visiting it does nothing.
    pub fn new() -> Self {
        Self::default()
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
        let wiring = Arc::clone(&flow.wiring);
        let join = Arc::new(join);

        let run: Box<Run<S>> = Box::new(move |name, state, here| {
            // Split before the future, which then doesn't borrow the state.
            let part = split(state).into_result();
            let flow = flow.clone();
            let join = Arc::clone(&join);

            Box::pin(async move {
                let mut part = part.map_err(|error| Failure::node(Phase::Prep, error))?;
                finish(here, &flow, Part::Branch(name.to_owned()), &mut part).await?;
                let join: Join<S> = Box::new(move |state| join(state, part).into_result());
                Ok(join)
            })
        });

        self.branches.push(Branch {
            name: name.into(),
            flow: wiring,
            run,
        });
        self
    }

    pub(crate) fn inside(&self) -> Inside {
        let inside = Inside::of(GraphNodeKind::Branches);
        let branches = self.branches.iter();
        branches.fold(inside, |inside, branch| {
            inside.with(&branch.name, &branch.flow)
        })
    }
}

impl<S: 'static> Default for Branches<S> {
    fn default() -> Self {
        let branches = Vec::new();
        Self { branches }
    }
}

impl<S: Send> Visit<S> for Branches<S> {
    fn visit<'a>(&'a self, state: &'a mut S, _: &'a [At<'a>], here: Here<'a>) -> Visited<'a> {
        Box::pin(async move {
            let branches = self.branches.iter();
            let works = branches.map(|branch| (branch.run)(&branch.name, state, here));

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
