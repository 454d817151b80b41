//! Nodes made from closures.

#![expect(
    clippy::type_complexity,
    reason = "the type of a node contains those of its closures"
)]

use std::marker::PhantomData;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::{Action, BoxError, IntoAction, Node};

/// Creates a node from a synchronous closure over the state.
///
/// The closure returns nothing, the label of an action, an [`Action`], or a `Result` with one of
/// these and a [`BoxError`]. For async work, use [`from_phases`].
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

/// Creates a node from an async closure that takes the whole state and doesn't change it: the work
/// on an item of a [`Batch`](crate::Batch).
///
/// The item is cloned for each attempt, and its type must be given in the closure.
///
/// ```
/// use cogwork_flow::from_exec;
///
/// let fetch = from_exec(|url: String| async move { Ok::<_, std::io::Error>(url.len()) });
/// # let _ = fetch;
/// ```
///
/// If the closure uses a client, see [`from_exec_with`].
pub fn from_exec<I, X, F, E>(exec: F) -> FromPhases<I, fn(&mut I) -> I, F, fn(&mut I, X::Value)>
where
    I: Clone + Send + Sync,
    F: Fn(I) -> E + Send + Sync,  // To use a client: `from_exec_with`.
    E: Future<Output = X> + Send, // `async |item| …`
    X: Outcome,
{
    let prep: fn(&mut I) -> I = |item| item.clone();
    let post: fn(&mut I, X::Value) = |_, _| ();
    from_phases(prep, exec, post)
}

/// Creates a node like [`from_exec`], with a value that the closure uses, such as a client. Each
/// call receives a clone of it, so the value should be cheap to clone. The type of the item must be
/// given in the closure, that of the value is inferred.
///
/// ```
/// use std::sync::Arc;
/// use cogwork_flow::from_exec_with;
///
/// let lengths = Arc::new([1, 2, 3]);
/// let look_up = from_exec_with(lengths, |lengths, index: usize| async move {
///     lengths.get(index).copied().ok_or("no such length")
/// });
/// # let _ = look_up;
/// ```
pub fn from_exec_with<C, I, X, F, E>(
    value: C,
    exec: F,
) -> FromPhases<I, fn(&mut I) -> I, impl Fn(I) -> E + Send + Sync, fn(&mut I, X::Value)>
where
    C: Clone + Send + Sync,
    I: Clone + Send + Sync,
    F: Fn(C, I) -> E + Send + Sync,
    E: Future<Output = X> + Send, // `async |value, item| …`
    X: Outcome,
{
    from_exec(move |item| exec(value.clone(), item))
}

/// Creates a node from three closures, one for each phase.
///
/// The return value of `prep` is passed to `exec` by value, so that the future doesn't borrow it; it
/// is cloned for each attempt. `post` receives the state and the outcome of `exec`. It returns nothing,
/// an [`Action`], the label of one, or a `Result` with one of these and a [`BoxError`], so that `?`
/// converts every error. `exec` may fail with any error.
///
/// The state in the first closure needs a type. The compiler infers the other parameters.
///
/// ```
/// use cogwork_flow::from_phases;
///
/// struct State { url: String, page: Option<String> }
///
/// let fetch = from_phases(
///     |state: &mut State| state.url.clone(),
///     |url| async move { Ok::<_, std::io::Error>(format!("<h1>{url}</h1>")) },
///     |state, page| state.page = Some(page),
/// );
/// # let _ = fetch;
/// ```
///
/// If `exec` uses a client, see [`from_phases_with`].
pub fn from_phases<S, P, X, R, A, Prep, Exec, E>(
    prep: Prep,
    exec: Exec,
    post: R,
) -> FromPhases<S, Prep, Exec, R>
where
    Prep: Fn(&mut S) -> P + Send + Sync,
    Exec: Fn(P) -> E + Send + Sync, // To use a client: `from_phases_with`.
    E: Future<Output = X> + Send,   // `async |input| …`
    R: Fn(&mut S, X::Value) -> A + Send + Sync,
    P: Clone + Send + Sync,
    X: Outcome,
    A: IntoAction,
{
    FromPhases {
        prep,
        exec,
        post,
        actions: vec![Action::DEFAULT],
        state: PhantomData,
    }
}

/// Creates a node like [`from_phases`], with a value that `exec` uses, such as a client. Each call
/// of `exec` receives a clone of it, so the value should be cheap to clone.
///
/// ```
/// use std::sync::Arc;
/// use cogwork_flow::from_phases_with;
///
/// struct Client;
///
/// impl Client {
///     async fn get(&self, url: &str) -> std::io::Result<String> {
///         Ok(format!("<h1>{url}</h1>"))
///     }
/// }
///
/// struct State { url: String, page: Option<String> }
///
/// let client = Arc::new(Client);
/// let fetch = from_phases_with(
///     client,
///     |state: &mut State| state.url.clone(),
///     |client, url| async move { client.get(&url).await },
///     |state, page| state.page = Some(page),
/// );
/// # let _ = fetch;
/// ```
pub fn from_phases_with<S, C, P, X, R, A, Prep, Exec, E>(
    value: C,
    prep: Prep,
    exec: Exec,
    post: R,
) -> FromPhases<S, Prep, impl Fn(P) -> E + Send + Sync, R>
where
    C: Clone + Send + Sync,
    Prep: Fn(&mut S) -> P + Send + Sync,
    Exec: Fn(C, P) -> E + Send + Sync,
    E: Future<Output = X> + Send, // `async |value, input| …`
    R: Fn(&mut S, X::Value) -> A + Send + Sync,
    P: Clone + Send + Sync,
    X: Outcome,
    A: IntoAction,
{
    from_phases(prep, move |prep| exec(value.clone(), prep), post)
}

/// The result of an `exec` closure, with the type of its outcome as an associated type.
#[diagnostic::on_unimplemented(
    message = "the closure for `exec` cannot return `{Self}`",
    label = "expected `Result<_, E>`, with an error `E` that is `Send + Sync`",
    note = "`cogwork_flow::BoxError` is such an error; `Box<dyn std::error::Error>` is not",
    note = "if `exec` cannot fail: return `Ok::<_, std::convert::Infallible>(…)`"
)]
pub trait Outcome {
    /// The outcome.
    type Value: Serialize + DeserializeOwned + Send;

    /// Returns the result.
    ///
    /// # Errors
    ///
    /// Returns the error of the closure.
    fn into_result(self) -> Result<Self::Value, BoxError>;
}

impl<V, E> Outcome for Result<V, E>
where
    V: Serialize + DeserializeOwned + Send,
    E: Into<BoxError>,
{
    type Value = V;

    fn into_result(self) -> Result<V, BoxError> {
        self.map_err(Into::into)
    }
}

/// A node made from closures. Created by [`from_phases`] and [`from_exec`].
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
    A: IntoAction,
{
    type Prep = P;
    type Exec = X::Value;
    type Error = BoxError;

    fn actions(&self) -> Vec<Action> {
        self.actions.clone()
    }

    fn prep(&self, state: &mut S) -> Result<P, BoxError> {
        Ok((self.prep)(state))
    }

    async fn exec(&self, prep: &P) -> Result<X::Value, BoxError> {
        (self.exec)(prep.clone()).await.into_result()
    }

    fn post(&self, state: &mut S, _: P, exec: X::Value) -> Result<Action, BoxError> {
        (self.post)(state, exec).into_result()
    }
}

/// A node made from a single closure. Created by [`from_fn`].
///
/// It has a type of its own, so that the compiler says what such a closure may return.
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
        // In `post` and not in `prep`, which cannot choose an action.
        (self.post)(state).into_result()
    }
}
