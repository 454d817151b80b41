use std::fmt;
use std::time::Duration;

use cogwork_text::ErrorText;

use crate::current::emit_from_current;
use crate::execute::composite::attempt_failed;
use crate::failed::Attempts;
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
pub struct Retry<N, W = Always> {
    node: N,
    backoff: Backoff,
    when: W,
    longest: Duration,
}

/// Retries every error.
#[derive(Debug, Clone, Copy)]
pub struct Always;

impl<N> Retry<N> {
    pub(crate) fn new(node: N, backoff: Backoff) -> Self {
        Self {
            node,
            backoff,
            when: Always,
            longest: LONGEST,
        }
    }

    /// Retries only errors for which `when` returns `true`.
    pub fn when<E, W: Fn(&E) -> bool + Send + Sync>(self, when: W) -> Retry<N, When<W>> {
        self.decided_by(When(when))
    }

    /// Sets a closure that decides for each error whether and when to retry.
    ///
    /// ```
    /// use std::time::Duration;
    /// use cogwork_flow::wrap::Again;
    /// use cogwork_flow::{Backoff, Node, from_phases};
    ///
    /// #[derive(Debug, thiserror::Error)]
    /// enum Refusal {
    ///     #[error("busy for {0:?}")]
    ///     Busy(Duration),
    ///     #[error("no such page")]
    ///     Missing,
    /// }
    ///
    /// let fetch = from_phases(
    ///     |url: &mut String| url.clone(),
    ///     |_url| async { Err::<(), _>(Refusal::Busy(Duration::from_secs(7))) },
    ///     |_, _, ()| (),
    /// );
    /// let fetch = fetch.retry(Backoff::default()).asking(|error: &Refusal| match error {
    ///     Refusal::Busy(wait) => Again::NotBefore(*wait),
    ///     Refusal::Missing => Again::Never,
    /// });
    /// # let _ = fetch;
    /// ```
    pub fn asking<E, W: Fn(&E) -> Again + Send + Sync>(self, ask: W) -> Retry<N, Asking<W>> {
        self.decided_by(Asking(ask))
    }

    fn decided_by<W>(self, when: W) -> Retry<N, W> {
        Retry {
            node: self.node,
            backoff: self.backoff,
            when,
            longest: self.longest,
        }
    }
}

impl<N, W> Retry<N, W> {
    /// Sets the maximum delay that an error may ask for. An error that asks for more isn't retried.
    ///
    /// # Default
    ///
    /// 60 s.
    #[must_use]
    pub fn with_max_wait(mut self, longest: Duration) -> Self {
        self.longest = longest;
        self
    }

    /// Returns the delay before the next attempt; `None` if `exec` should not be retried.
    fn delay<E>(&self, error: &E, next: impl FnOnce() -> Option<Duration>) -> Option<Duration>
    where
        W: Worth<E>,
    {
        match self.when.worth(error) {
            Again::Never => None,
            Again::AsBackoffSays => next(),
            Again::NotBefore(wait) if wait > self.longest => None,
            Again::NotBefore(wait) => next().map(|delay| delay.max(wait)),
        }
    }
}

/// The default maximum delay that an error may ask for.
const LONGEST: Duration = Duration::from_secs(60);

/// Whether and when to retry after an error. The [`Backoff`] always limits the number of attempts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Again {
    /// Don't retry.
    Never,
    /// Retry after the delay of the backoff.
    AsBackoffSays,
    /// Retry after this delay, or after the delay of the backoff if that is longer.
    NotBefore(Duration),
}

/// The closure passed to [`Retry::when`].
#[derive(Debug, Clone, Copy)]
pub struct When<W>(W);

/// The closure passed to [`Retry::asking`].
#[derive(Debug, Clone, Copy)]
pub struct Asking<W>(W);

/// Decides whether to retry an error.
pub trait Worth<E>: Send + Sync {
    /// Returns whether and when to retry.
    fn worth(&self, error: &E) -> Again;
}

impl<E> Worth<E> for Always {
    fn worth(&self, _: &E) -> Again {
        Again::AsBackoffSays
    }
}

impl<E, W: Fn(&E) -> bool + Send + Sync> Worth<E> for When<W> {
    fn worth(&self, error: &E) -> Again {
        if (self.0)(error) {
            Again::AsBackoffSays
        } else {
            Again::Never
        }
    }
}

impl<E, W: Fn(&E) -> Again + Send + Sync> Worth<E> for Asking<W> {
    fn worth(&self, error: &E) -> Again {
        (self.0)(error)
    }
}

/// The error of a [`Retry`]: the error of the last attempt and the number of attempts.
#[derive(Debug)]
pub struct RetryError<E> {
    /// The number of attempts, including the first.
    pub attempts: u32,
    /// The error of the last attempt.
    pub error: E,
}

impl<E: fmt::Display> fmt::Display for RetryError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = if self.attempts == 1 { "" } else { "s" };
        write!(f, "failed after {} attempt{plural}: ", self.attempts)?;
        ErrorText(&self.error).fmt(f)
    }
}

impl<E: Into<BoxError>> From<RetryError<E>> for BoxError {
    fn from(RetryError { attempts, error }: RetryError<E>) -> Self {
        Box::new(Attempts {
            attempts,
            source: error.into(),
        })
    }
}

impl<S, N: Node<S>, W: Worth<N::Error>> Node<S> for Retry<N, W> {
    type Prep = N::Prep;
    type Exec = N::Exec;
    type Error = RetryError<N::Error>;

    fn actions(&self) -> Vec<Action> {
        self.node.actions()
    }

    fn is_composite(&self) -> bool {
        self.node.is_composite()
    }

    fn operation(&self) -> Operation {
        self.node.operation()
    }

    fn prep(&self, state: &mut S) -> Result<Self::Prep, Self::Error> {
        self.node.prep(state).map_err(once)
    }

    async fn exec(&self, prep: &Self::Prep) -> Result<Self::Exec, Self::Error> {
        match self.node.exec(prep).await {
            Ok(exec) => Ok(exec),
            // Boxed, because only a failed attempt needs it: otherwise the loop and its timer would
            // make every future of this node larger.
            Err(error) => Box::pin(again(self, prep, error)).await,
        }
    }

    fn post(
        &self,
        state: &mut S,
        prep: Self::Prep,
        exec: Self::Exec,
    ) -> Result<Action, Self::Error> {
        self.node.post(state, prep, exec).map_err(once)
    }
}

/// The attempts after the first.
async fn again<S, N: Node<S>, W: Worth<N::Error>>(
    retry: &Retry<N, W>,
    prep: &N::Prep,
    mut error: N::Error,
) -> Result<N::Exec, RetryError<N::Error>> {
    let mut delays = retry.backoff.delays();
    let mut attempts = 1;
    loop {
        let Some(delay) = retry.delay(&error, || delays.next()) else {
            return Err(RetryError { attempts, error });
        };

        let line: BoxError = error.into();
        spans::retrying(attempts, delay, &line);
        emit_from_current(|| EventKind::Retrying {
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

/// Phases that aren't retried fail at the first attempt.
fn once<E>(error: E) -> RetryError<E> {
    RetryError { attempts: 1, error }
}

impl<N: fmt::Debug, W> fmt::Debug for Retry<N, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Retry")
            .field("node", &self.node)
            .field("backoff", &self.backoff)
            .finish()
    }
}
