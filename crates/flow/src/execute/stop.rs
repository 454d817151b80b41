//! Stops a run from outside, while it waits or between two steps.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::Poll;

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::failure::Stopped;

#[derive(Debug, Default)]
pub(crate) struct Stop {
    pub(crate) deadline: Option<Instant>,
    pub(crate) token: Option<CancellationToken>,
}

/// Runs `work` unless the run has to stop, before or while it waits. The clock and the token are
/// only used if there is a deadline or a token, and only once the work waits.
///
/// The work is passed pinned, because passing it by value would take twice the space.
pub(crate) async fn unless_stopped<T>(
    stop: Option<&Stop>,
    mut work: Pin<&mut impl Future<Output = T>>,
) -> Result<T, Stopped> {
    if let Some(stopped) = stop.and_then(Stop::at_once) {
        return Err(stopped);
    }

    let mut stopped = None;
    poll_fn(|context| {
        if let Poll::Ready(done) = work.as_mut().poll(context) {
            return Poll::Ready(Ok(done));
        }

        let Some(stop) = stop else {
            return Poll::Pending;
        };

        let stopped = stopped.get_or_insert_with(|| Box::pin(stop.stopped()));
        stopped.as_mut().poll(context).map(Err)
    })
    .await
}

impl Stop {
    fn at_once(&self) -> Option<Stopped> {
        if self
            .token
            .as_ref()
            .is_some_and(CancellationToken::is_cancelled)
        {
            return Some(Stopped::Cancelled);
        }

        let is_over = self
            .deadline
            .is_some_and(|deadline| Instant::now() >= deadline);
        is_over.then_some(Stopped::Deadline)
    }

    async fn stopped(&self) -> Stopped {
        let cancelled = async {
            match &self.token {
                Some(token) => token.cancelled().await,
                None => std::future::pending().await,
            }
        };

        let Some(deadline) = self.deadline else {
            cancelled.await;
            return Stopped::Cancelled;
        };

        match tokio::time::timeout_at(deadline, cancelled).await {
            Ok(()) => Stopped::Cancelled,
            Err(_) => Stopped::Deadline,
        }
    }
}
