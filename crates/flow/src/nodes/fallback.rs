use super::Wrap;
use crate::{BoxError, Node};

/// A fallback for failures of `exec`. Created by [`Node::fallback`] and
/// [`Node::fallback_with`].
///
/// The fallback is part of `exec`: it can wait, for another model or a cache, its outcome is
/// recorded as the outcome of the step, a [`timeout`](Node::timeout) around it limits both, and
/// stopping the run drops it at its current `await`. A recorded run that crashes during the fallback
/// calls `exec` again. In a [composite](Node::is_composite) node, the calls of the fallback are
/// recorded one by one if they use [`recorded`](crate::engine::recorded).
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
///     |_, _price| (),
/// );
/// let quote = quote
///     .timeout(Duration::from_secs(2))
///     .fallback(|symbol, _error| async move { Ok(symbol.parse()?) });
/// # let _ = quote;
/// ```
pub struct Fallback<F>(pub(crate) F);

impl<S, N, F, R> Wrap<S, N> for Fallback<F>
where
    N: Node<S>,
    N::Prep: Clone,
    F: Fn(N::Prep, N::Error) -> R + Send + Sync,
    R: Future<Output = Result<N::Exec, BoxError>> + Send,
{
    async fn exec(&self, node: &N, prep: &N::Prep) -> Result<N::Exec, BoxError> {
        match node.exec(prep).await {
            Ok(exec) => Ok(exec),
            // Boxed, because only a failed attempt needs it: otherwise it would make every future of
            // this node larger.
            Err(error) => Box::pin((self.0)(prep.clone(), error)).await,
        }
    }
}
