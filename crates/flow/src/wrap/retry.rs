use std::fmt;

use cogwork_text::ErrorText;

use crate::current::emit;
use crate::execute::recorder::attempt_failed;
use crate::spans;
use crate::{Action, Backoff, BoxError, EventKind, Node, Operation};

/// A node whose `exec` is retried when it fails. Created by [`Node::retry`].
///
/// By default, every error is retried; see [`when`](Retry::when). Attempts are counted per call.
/// Delays require a tokio runtime with time enabled.
///
/// ```
/// use cogwork_flow::{Action, Backoff, Node, from_phases};
///
/// let fetch = from_phases(
///     |url: &mut String| url.clone(),
///     |url| async move { Err::<String, _>(std::io::Error::other(url)) },
///     |page, _, text| { *page = text; Action::DEFAULT },
/// );
/// let fetch = fetch
///     .retry(Backoff::default())
///     .when(|error: &std::io::Error| error.kind() != std::io::ErrorKind::NotFound);
/// # let _ = fetch;
/// ```
pub struct Retry<N, E> {
    node: N,
    backoff: Backoff,
    when: Box<dyn Fn(&E) -> bool + Send + Sync>,
}

impl<N, E> Retry<N, E> {
    pub(crate) fn new(node: N, backoff: Backoff) -> Self {
        Self {
            node,
            backoff,
            when: Box::new(|_| true),
        }
    }

    /// Retries only errors for which `when` returns `true`.
    #[must_use]
    pub fn when(mut self, when: impl Fn(&E) -> bool + Send + Sync + 'static) -> Self {
        self.when = Box::new(when);
        self
    }
}

/// The error of a [`Retry`]: the error of the last attempt, and the number of attempts. The run reports
/// both, so only a [fallback](Node::fallback) around the retries sees this.
#[derive(Debug, thiserror::Error)]
#[error("{}", ErrorText(error))]
pub struct RetryError {
    /// The number of attempts, including the first.
    pub attempts: u32,
    /// The error of the last attempt.
    #[source]
    pub error: BoxError,
}

impl<S, N: Node<S>> Node<S> for Retry<N, N::Error> {
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
            // Boxed, because only a failed attempt needs it: otherwise the loop and its timer would
            // make every future of this node larger.
            Err(error) => Box::pin(again(self, prep, error)).await,
        }
    }

    fn post(&self, state: &mut S, prep: Self::Prep, exec: Self::Exec) -> Result<Action, BoxError> {
        self.node.post(state, prep, exec).map_err(Into::into)
    }
}

/// The attempts after the first.
async fn again<S, N: Node<S>>(
    retry: &Retry<N, N::Error>,
    prep: &N::Prep,
    mut error: N::Error,
) -> Result<N::Exec, BoxError> {
    let mut delays = retry.backoff.delays();
    let mut attempts = 1;
    loop {
        let delay = delays.next().filter(|_| (retry.when)(&error));
        let Some(delay) = delay else {
            let error = error.into();
            return Err(RetryError { attempts, error }.into());
        };

        let line: BoxError = error.into();
        spans::retrying(attempts, delay, &line);
        emit(|| EventKind::Retrying {
            attempts,
            delay,
            error: line.to_string(),
        });

        attempt_failed(&line).await;
        tokio::time::sleep(delay).await;
        attempts += 1;
        match retry.node.exec(prep).await {
            Ok(exec) => return Ok(exec),
            Err(failed) => error = failed,
        }
    }
}

impl<N: fmt::Debug, E> fmt::Debug for Retry<N, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Retry")
            .field("node", &self.node)
            .field("backoff", &self.backoff)
            .finish()
    }
}
