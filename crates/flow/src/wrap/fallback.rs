use std::fmt;

use crate::{Action, BoxError, Node, Operation};

/// A node with a fallback for failures of `exec`. Created by [`Node::fallback`] and
/// [`Node::fallback_with`].
///
/// The fallback is part of `exec`: it can wait, for another model or a cache, its outcome is
/// recorded as the outcome of the step, a [`timeout`](Node::timeout) around it limits both, and
/// stopping the run drops it at its current `await`. A recorded run that crashes during the fallback
/// calls `exec` again. In a [composite](Node::is_composite) node, the calls of the fallback are
/// recorded one by one if they use [`recorded`](crate::journal::recorded).
///
/// Put it outside the retries: `node.retry(backoff).fallback(…)` falls back after all attempts have
/// failed; `node.fallback(…).retry(backoff)` only retries if the fallback fails as well.
///
/// ```
/// use std::time::Duration;
/// use cogwork_flow::{Node, from_phases};
///
/// let quote = from_phases(
///     |symbol: &mut String| symbol.clone(),
///     |symbol| async move { Err::<u32, _>(format!("no market for {symbol}")) },
///     |_, _, _price| (),
/// );
/// let quote = quote
///     .timeout(Duration::from_secs(2))
///     .fallback(|symbol, _error| async move { Ok(symbol.parse()?) });
/// # let _ = quote;
/// ```
pub struct Fallback<N, F> {
    node: N,
    rescue: F,
}

impl<N, F> Fallback<N, F> {
    pub(crate) fn new(node: N, rescue: F) -> Self {
        Self { node, rescue }
    }
}

impl<S, N, F, R> Node<S> for Fallback<N, F>
where
    N: Node<S>,
    N::Prep: Clone,
    F: Fn(N::Prep, N::Error) -> R + Send + Sync,
    R: Future<Output = Result<N::Exec, BoxError>> + Send,
{
    type Prep = N::Prep;
    type Exec = N::Exec;
    type Error = BoxError;

    fn actions(&self) -> Vec<Action> {
        self.node.actions()
    }

    fn is_composite(&self) -> bool {
        self.node.is_composite()
    }

    fn operation(&self) -> Operation {
        self.node.operation()
    }

    fn prep(&self, state: &mut S) -> Result<Self::Prep, BoxError> {
        self.node.prep(state).map_err(Into::into)
    }

    async fn exec(&self, prep: &Self::Prep) -> Result<Self::Exec, BoxError> {
        match self.node.exec(prep).await {
            Ok(exec) => Ok(exec),
            // Boxed, because only a failed attempt needs it: otherwise it would make every future of
            // this node larger.
            Err(error) => Box::pin((self.rescue)(prep.clone(), error)).await,
        }
    }

    fn post(&self, state: &mut S, prep: Self::Prep, exec: Self::Exec) -> Result<Action, BoxError> {
        self.node.post(state, prep, exec).map_err(Into::into)
    }
}

impl<N: fmt::Debug, F> fmt::Debug for Fallback<N, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Fallback").field(&self.node).finish()
    }
}
