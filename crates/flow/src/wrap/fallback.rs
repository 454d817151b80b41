use std::fmt;

use crate::{Action, Node};

/// A node with a fallback for failures of `exec`. Created by [`Node::fallback`].
///
/// Put it outside the retries: `node.retry(backoff).fallback(…)` falls back after all attempts have
/// failed; `node.fallback(…).retry(backoff)` never has anything to retry.
///
/// ```
/// use std::time::Duration;
/// use cogwork_flow::{Action, Node, from_phases};
///
/// let quote = from_phases(
///     |symbol: &mut String| symbol.clone(),
///     |symbol: String| async move { Err::<u32, _>(format!("no market for {symbol}")) },
///     |_: &mut String, _price: u32| Action::DEFAULT,
/// );
/// let quote = quote.timeout(Duration::from_secs(2)).fallback(|_symbol, _error| Ok(0));
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

impl<S, N, F> Node<S> for Fallback<N, F>
where
    N: Node<S>,
    F: Fn(&N::Prep, N::Error) -> Result<N::Exec, N::Error> + Send + Sync,
{
    type Prep = N::Prep;
    type Exec = N::Exec;
    type Error = N::Error;

    fn actions(&self) -> Vec<Action> {
        self.node.actions()
    }

    fn is_composite(&self) -> bool {
        self.node.is_composite()
    }

    fn prep(&self, state: &mut S) -> Result<Self::Prep, Self::Error> {
        self.node.prep(state)
    }

    async fn exec(&self, prep: &Self::Prep) -> Result<Self::Exec, Self::Error> {
        match self.node.exec(prep).await {
            Ok(exec) => Ok(exec),
            Err(error) => (self.rescue)(prep, error),
        }
    }

    fn post(
        &self,
        state: &mut S,
        prep: Self::Prep,
        exec: Self::Exec,
    ) -> Result<Action, Self::Error> {
        self.node.post(state, prep, exec)
    }
}

impl<N: fmt::Debug, F> fmt::Debug for Fallback<N, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Fallback").field(&self.node).finish()
    }
}
