use std::convert::Infallible;
use std::fmt;
use std::marker::PhantomData;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::{Action, BoxError, IntoAction, Node};

/// Creates a node from three closures, one for each phase.
///
/// The return value of `prep` is passed to `exec` by value, so that the future doesn't borrow it;
/// it is cloned for each attempt. Only `exec` can fail. `post` returns nothing, an [`Action`],
/// or the label of one.
///
/// ```
/// use cogwork_flow::{Action, from_phases};
///
/// struct State { url: String, page: Option<String> }
///
/// let fetch = from_phases(
///     |state: &mut State| state.url.clone(),
///     |url: String| async move { Ok::<_, std::io::Error>(format!("<h1>{url}</h1>")) },
///     |state: &mut State, page: String| state.page = Some(page),
/// );
/// # let _ = fetch;
/// ```
pub fn from_phases<S, P, X, R, A, Prep, Exec, E>(
    prep: Prep,
    exec: Exec,
    post: R,
) -> FromPhases<S, Prep, Exec, R>
where
    Prep: Fn(&mut S) -> P + Send + Sync,
    Exec: Fn(P) -> E + Send + Sync,
    E: Future<Output = X> + Send,
    R: Fn(&mut S, <X as Outcome>::Value) -> A + Send + Sync,
    X: Outcome,
    A: IntoAction<Error = Infallible>,
{
    FromPhases {
        prep,
        exec,
        post,
        actions: vec![Action::DEFAULT],
        state: PhantomData,
    }
}

/// The result of an `exec` closure, with its two types as associated types.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not what the work of a node may answer",
    label = "expected `Result<_, E>`, with an error `E` that is `Send + Sync`",
    note = "`cogwork_flow::BoxError` is such an error; `Box<dyn std::error::Error>` is not"
)]
pub trait Outcome {
    /// The outcome.
    type Value;
    /// The error.
    type Error: Into<BoxError> + Send;

    /// Returns the result.
    ///
    /// # Errors
    ///
    /// Returns the error of the closure.
    fn into_result(self) -> Result<Self::Value, Self::Error>;
}

impl<V, E: Into<BoxError> + Send> Outcome for Result<V, E> {
    type Value = V;
    type Error = E;

    fn into_result(self) -> Result<V, E> {
        self
    }
}

/// A node made from three closures. Created by [`from_phases`].
pub struct FromPhases<S, Prep, Exec, Post> {
    prep: Prep,
    exec: Exec,
    post: Post,
    actions: Vec<Action>,
    state: PhantomData<fn(&mut S)>,
}

impl<S, Prep, Exec, Post> FromPhases<S, Prep, Exec, Post> {
    /// Sets the actions that the last closure may return.
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

impl<S, P, X, A, Prep, Exec, Post, E> Node<S> for FromPhases<S, Prep, Exec, Post>
where
    Prep: Fn(&mut S) -> P + Send + Sync,
    Exec: Fn(P) -> E + Send + Sync,
    E: Future<Output = X> + Send,
    Post: Fn(&mut S, X::Value) -> A + Send + Sync,
    P: Clone + Send + Sync,
    X: Outcome,
    X::Value: Serialize + DeserializeOwned + Send,
    A: IntoAction<Error = Infallible>,
{
    type Prep = P;
    type Exec = X::Value;
    type Error = X::Error;

    fn actions(&self) -> Vec<Action> {
        self.actions.clone()
    }

    fn prep(&self, state: &mut S) -> Result<P, Self::Error> {
        Ok((self.prep)(state))
    }

    async fn exec(&self, prep: &P) -> Result<Self::Exec, Self::Error> {
        (self.exec)(prep.clone()).await.into_result()
    }

    fn post(&self, state: &mut S, _: P, exec: Self::Exec) -> Result<Action, Self::Error> {
        match (self.post)(state, exec).into_result() {
            Ok(action) => Ok(action),
        }
    }
}

impl<S, Prep, Exec, Post> fmt::Debug for FromPhases<S, Prep, Exec, Post> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FromPhases")
            .field("actions", &self.actions)
            .finish_non_exhaustive()
    }
}
