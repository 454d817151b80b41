use std::fmt;

use crate::events::WatchedStep;
use crate::{Action, Backoff, BoxError, EventKind, Node};

/// A node whose `exec` is tried again when it fails; made by [`Node::retry`].
///
/// Every error is worth another attempt unless [`when`](Retry::when) says otherwise. Attempts are
/// counted by the call, not by the node. Delays need a tokio runtime with time enabled.
///
/// ```
/// use cogwork_flow::{Action, Backoff, Node, from_phases};
///
/// let fetch = from_phases(
///     |url: &mut String| url.clone(),
///     |url: String| async move { Err::<String, _>(std::io::Error::other(url)) },
///     |page: &mut String, text: String| { *page = text; Action::DEFAULT },
/// );
/// let fetch = fetch
///     .retry(Backoff::default())
///     .when(|error: &std::io::Error| error.kind() != std::io::ErrorKind::NotFound);
/// # let _ = fetch;
/// ```
pub struct Retry<N, W = Always> {
    node: N,
    backoff: Backoff,
    when: W,
}

/// Every error is worth another attempt.
#[derive(Debug, Clone, Copy)]
pub struct Always;

impl<N> Retry<N> {
    pub(crate) fn new(node: N, backoff: Backoff) -> Self {
        Self { node, backoff, when: Always }
    }

    /// Tries again only on errors for which `when` answers true.
    pub fn when<E, W: Fn(&E) -> bool + Send + Sync>(self, when: W) -> Retry<N, When<W>> {
        Retry { node: self.node, backoff: self.backoff, when: When(when) }
    }
}

/// The closure given to [`Retry::when`].
#[derive(Debug, Clone, Copy)]
pub struct When<W>(W);

/// Decides whether an error is worth another attempt.
pub trait Worth<E>: Send + Sync {
    /// Whether it is.
    fn worth(&self, error: &E) -> bool;
}

impl<E> Worth<E> for Always {
    fn worth(&self, _: &E) -> bool {
        true
    }
}

impl<E, W: Fn(&E) -> bool + Send + Sync> Worth<E> for When<W> {
    fn worth(&self, error: &E) -> bool {
        (self.0)(error)
    }
}

/// The error of a [`Retry`]: that of the last attempt, and how many there were.
#[derive(Debug)]
pub struct RetryError<E> {
    /// Attempts made, the first one counted.
    pub attempts: u32,
    /// The error of the last attempt.
    pub error: E,
}

impl<E: fmt::Display> fmt::Display for RetryError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = if self.attempts == 1 { "" } else { "s" };
        write!(f, "failed after {} attempt{plural}: {}", self.attempts, self.error)
    }
}

/// Carries the number of attempts through the erasure of the error's type.
#[derive(Debug, thiserror::Error)]
#[error("{source}")]
pub(crate) struct Attempts {
    pub(crate) attempts: u32,
    pub(crate) source: BoxError,
}

impl<E: Into<BoxError>> From<RetryError<E>> for BoxError {
    fn from(RetryError { attempts, error }: RetryError<E>) -> Self {
        Box::new(Attempts { attempts, source: error.into() })
    }
}

impl<S, N: Node<S>, W: Worth<N::Error>> Node<S> for Retry<N, W> {
    type Prep = N::Prep;
    type Exec = N::Exec;
    type Error = RetryError<N::Error>;

    fn actions(&self) -> Vec<Action> {
        self.node.actions()
    }

    fn prep(&self, state: &mut S) -> Result<Self::Prep, Self::Error> {
        self.node.prep(state).map_err(once)
    }

    async fn exec(&self, prep: &Self::Prep) -> Result<Self::Exec, Self::Error> {
        // Made by the first failure: most calls need none.
        let mut delays = None;
        let mut attempts = 1;
        loop {
            let error = match self.node.exec(prep).await {
                Ok(exec) => return Ok(exec),
                Err(error) => error,
            };
            let mut next = || delays.get_or_insert_with(|| self.backoff.delays()).next();
            let delay = if self.when.worth(&error) { next() } else { None };
            let Some(delay) = delay else { return Err(RetryError { attempts, error }) };
            let error = error.into();
            WatchedStep::tell_current(|| EventKind::Retrying { attempts, delay, error: error.to_string() });
            // Boxed because only a failed attempt needs it: the timer would otherwise make every
            // future of this node larger.
            Box::pin(tokio::time::sleep(delay)).await;
            attempts += 1;
        }
    }

    fn post(&self, state: &mut S, prep: Self::Prep, exec: Self::Exec) -> Result<Action, Self::Error> {
        self.node.post(state, prep, exec).map_err(once)
    }
}

/// Phases that are not tried again fail at the first attempt.
fn once<E>(error: E) -> RetryError<E> {
    RetryError { attempts: 1, error }
}

impl<N: fmt::Debug, W> fmt::Debug for Retry<N, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Retry").field("node", &self.node).field("backoff", &self.backoff).finish()
    }
}
