use std::fmt;
use std::marker::PhantomData;

use crate::{Action, BoxError, IntoAction, Node};

/// Creates a node from a synchronous closure over the state.
///
/// The closure returns nothing, the label of an action, an [`Action`], or a `Result` with one of
/// these and a [`BoxError`]. For async work, use [`from_phases`](crate::from_phases).
///
/// ```
/// use cogwork_flow::from_fn;
///
/// let tally = from_fn(|votes: &mut Vec<bool>| *votes = vec![true; votes.len()]);
/// let decide = from_fn(|votes: &mut Vec<bool>| {
///     if votes.iter().all(|vote| *vote) { "yes" } else { "no" }
/// })
/// .with_actions(["yes", "no"]);
/// # let _ = (tally, decide);
/// ```
pub fn from_fn<S, F, A>(post: F) -> FromFn<S, F>
where
    F: Fn(&mut S) -> A + Send + Sync,
    A: IntoAction,
{
    FromFn {
        post,
        actions: vec![Action::DEFAULT],
        state: PhantomData,
    }
}

/// A node made from a single closure. Created by [`from_fn`].
pub struct FromFn<S, F> {
    post: F,
    actions: Vec<Action>,
    state: PhantomData<fn(&mut S)>,
}

impl<S, F> FromFn<S, F> {
    /// Sets the actions that the closure may return.
    ///
    /// # Default
    ///
    /// Only [`Action::DEFAULT`].
    #[must_use]
    pub fn with_actions<L: Into<Action>>(mut self, actions: impl IntoIterator<Item = L>) -> Self {
        self.actions = actions.into_iter().map(Into::into).collect();
        self
    }
}

impl<S, F, A> Node<S> for FromFn<S, F>
where
    F: Fn(&mut S) -> A + Send + Sync,
    A: IntoAction,
{
    type Prep = ();
    type Exec = ();
    type Error = BoxError;

    fn actions(&self) -> Vec<Action> {
        self.actions.clone()
    }

    fn prep(&self, _: &mut S) -> Result<(), BoxError> {
        Ok(())
    }

    async fn exec(&self, (): &()) -> Result<(), BoxError> {
        Ok(())
    }

    fn post(&self, state: &mut S, (): (), (): ()) -> Result<Action, BoxError> {
        (self.post)(state).into_result()
    }
}

impl<S, F> fmt::Debug for FromFn<S, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FromFn")
            .field("actions", &self.actions)
            .finish_non_exhaustive()
    }
}
