use std::fmt;

use cogwork_text::ErrorText;

use crate::current::emit;
use crate::execute::recorder::attempt_failed;
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

impl<S, N: Node<S>> Node<S> for Retry<N, N::Error> {
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
async fn again<S, N: Node<S>>(
    retry: &Retry<N, N::Error>,
    prep: &N::Prep,
    mut error: N::Error,
) -> Result<N::Exec, RetryError<N::Error>> {
    let mut delays = retry.backoff.delays();
    let mut attempts = 1;
    loop {
        let delay = delays.next().filter(|_| (retry.when)(&error));
        let Some(delay) = delay else {
            return Err(RetryError { attempts, error });
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

/// Phases that aren't retried fail at the first attempt.
fn once<E>(error: E) -> RetryError<E> {
    RetryError { attempts: 1, error }
}

impl<N: fmt::Debug, E> fmt::Debug for Retry<N, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Retry")
            .field("node", &self.node)
            .field("backoff", &self.backoff)
            .finish()
    }
}
