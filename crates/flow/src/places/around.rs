use crate::execute::failure::Failure;
use crate::{Action, BoxError, IntoAction, IntoResult, Phase};

/// The closures before and after the work on many items.
pub(crate) struct Around<S, I, O> {
    split: Box<Split<S, I>>,
    join: Box<Join<S, O>>,
    actions: Vec<Action>,
}

type Split<S, I> = dyn Fn(&S) -> Result<Vec<I>, BoxError> + Send + Sync;
type Join<S, O> = dyn Fn(&mut S, Vec<O>) -> Result<Action, BoxError> + Send + Sync;

impl<S, I, O> Around<S, I, O> {
    pub(crate) fn new<R, A>(
        split: impl Fn(&S) -> R + Send + Sync + 'static,
        join: impl Fn(&mut S, Vec<O>) -> A + Send + Sync + 'static,
    ) -> Self
    where
        R: IntoResult<Vec<I>>,
        A: IntoAction,
    {
        Self {
            split: Box::new(move |state| split(state).into_result()),
            join: Box::new(move |state, outcomes| join(state, outcomes).into_result()),
            actions: vec![Action::DEFAULT],
        }
    }

    pub(crate) fn set_actions<L: Into<Action>>(&mut self, actions: impl IntoIterator<Item = L>) {
        self.actions = actions.into_iter().map(Into::into).collect();
    }

    pub(crate) fn actions(&self) -> Vec<Action> {
        self.actions.clone()
    }

    pub(crate) fn split(&self, state: &S) -> Result<Vec<I>, Failure> {
        (self.split)(state).map_err(|error| Failure::node(Phase::Prep, error))
    }

    pub(crate) fn join(&self, state: &mut S, outcomes: Vec<O>) -> Result<Action, Failure> {
        (self.join)(state, outcomes).map_err(|error| Failure::node(Phase::Post, error))
    }
}
