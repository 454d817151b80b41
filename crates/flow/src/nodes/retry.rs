use super::{Wrap, Wrapped};
use crate::current::emit;
use crate::engine::WorkError;
use crate::execute::recorder::attempt_failed;
use crate::watch::EventKind;
use crate::{Backoff, BoxError, Node, spans};

/// Retries of `exec` when it fails. Created by [`Node::retry`].
///
/// By default, every error is retried; see [`when`](Wrapped::when). Attempts are counted per call.
/// Delays require a tokio runtime with time enabled.
///
/// ```
/// use std::io;
/// use cogwork_flow::{Action, Backoff, BoxError, Node, from_phases};
///
/// let fetch = from_phases(
///     |url: &mut String| url.clone(),
///     |url| async move { Err::<String, _>(io::Error::other(url)) },
///     |page, text| { *page = text; Action::DEFAULT },
/// );
/// let fetch = fetch
///     .retry(Backoff::default())
///     .when(|error: &BoxError| error.downcast_ref().map(io::Error::kind) != Some(io::ErrorKind::NotFound));
/// # let _ = fetch;
/// ```
pub struct Retry<E> {
    pub(crate) backoff: Backoff,
    pub(crate) when: Box<dyn Fn(&E) -> bool + Send + Sync>,
}

impl<N, E> Wrapped<N, Retry<E>> {
    /// Retries only errors for which `when` returns `true`.
    #[must_use]
    pub fn when(mut self, when: impl Fn(&E) -> bool + Send + Sync + 'static) -> Self {
        self.wrapper.when = Box::new(when);
        self
    }
}

impl<S, N: Node<S>> Wrap<S, N> for Retry<N::Error> {
    async fn exec(&self, node: &N, prep: &N::Prep) -> Result<N::Exec, BoxError> {
        match node.exec(prep).await {
            Ok(exec) => Ok(exec),
            // Boxed, because only a failed attempt needs it: otherwise the loop and its timer would
            // make every future of this node larger.
            Err(error) => Box::pin(again(self, node, prep, error)).await,
        }
    }
}

/// The attempts after the first.
async fn again<S, N: Node<S>>(
    retry: &Retry<N::Error>,
    node: &N,
    prep: &N::Prep,
    mut error: N::Error,
) -> Result<N::Exec, BoxError> {
    let mut delays = retry.backoff.delays();
    let mut attempts = 1;
    loop {
        // The last attempt has no delay after it, so its error is returned like one that isn't
        // retried.
        let delay = delays.next().filter(|_| (retry.when)(&error));
        let Some(delay) = delay else {
            let error = error.into();
            return Err(WorkError { attempts, error }.into());
        };

        let line: BoxError = error.into();
        spans::retrying(attempts, delay, &line);
        emit(false, || EventKind::Retrying {
            attempts,
            delay,
            error: line.to_string(),
        });

        // Before the delay: a run that is killed while it sleeps continues with the next attempt.
        attempt_failed(&line).await;
        tokio::time::sleep(delay).await;
        attempts += 1;
        match node.exec(prep).await {
            Ok(exec) => return Ok(exec),
            Err(failed) => error = failed,
        }
    }
}
