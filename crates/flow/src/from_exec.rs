use std::fmt;

use crate::from_phases::Outcome;
use crate::{Action, Node};

/// Creates a node from an async closure that takes the whole state and doesn't change it: the work
/// on an item of a [`Batch`](crate::Batch).
///
/// The item is cloned for each attempt.
///
/// ```
/// use cogwork_flow::from_exec;
///
/// let fetch = from_exec(|url: String| async move { Ok::<_, std::io::Error>(url.len()) });
/// # let _ = fetch;
/// ```
///
/// If the closure uses a client, see [`from_exec_with`].
pub fn from_exec<I, X, F, E>(exec: F) -> FromExec<F>
where
    I: Clone + Send + Sync,
    F: Fn(I) -> E + Send + Sync,  // To use a client: `from_exec_with`.
    E: Future<Output = X> + Send, // `async |item| …`
    X: Outcome,
{
    FromExec { exec }
}

/// Creates a node like [`from_exec`], with a value that the closure uses, such as a client. Each
/// call receives a clone of it, so the value should be cheap to clone.
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
pub fn from_exec_with<C, I, X, F, E>(value: C, exec: F) -> FromExec<impl Fn(I) -> E + Send + Sync>
where
    C: Clone + Send + Sync,
    I: Clone + Send + Sync,
    F: Fn(C, I) -> E + Send + Sync,
    E: Future<Output = X> + Send, // `async |value, item| …`
    X: Outcome,
{
    from_exec(move |item| exec(value.clone(), item))
}

/// A node made from the closure for `exec` alone. Created by [`from_exec`].
pub struct FromExec<F> {
    exec: F,
}

impl<I, X, F, E> Node<I> for FromExec<F>
where
    I: Clone + Send + Sync,
    F: Fn(I) -> E + Send + Sync,
    E: Future<Output = X> + Send,
    X: Outcome,
{
    type Prep = I;
    type Exec = X::Value;
    type Error = X::Error;

    fn prep(&self, item: &mut I) -> Result<I, Self::Error> {
        Ok(item.clone())
    }

    async fn exec(&self, item: &I) -> Result<Self::Exec, Self::Error> {
        (self.exec)(item.clone()).await.into_result()
    }

    fn post(&self, _: &mut I, _: I, _: Self::Exec) -> Result<Action, Self::Error> {
        Ok(Action::DEFAULT)
    }
}

impl<F> fmt::Debug for FromExec<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FromExec").finish_non_exhaustive()
    }
}
