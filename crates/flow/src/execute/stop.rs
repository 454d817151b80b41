//! Stops a run from outside, while it waits or between two steps.

use std::pin::Pin;

use futures_util::future::{Either, select};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::failure::Stopped;

#[derive(Debug, Default)]
pub(crate) struct Stop {
    pub(crate) deadline: Option<Instant>,
    pub(crate) token: Option<CancellationToken>,
}

/// Runs `work` unless the run has to stop, before or while it waits.
///
/// The work is passed pinned, because passing it by value would take twice the space.
pub(crate) async fn unless_stopped<T>(
    stop: Option<&Stop>,
    work: Pin<&mut impl Future<Output = T>>,
) -> Result<T, Stopped> {
    let Some(stop) = stop else {
        return Ok(work.await);
    };

    match select(Box::pin(stop.stopped()), work).await {
        Either::Left((stopped, _)) => Err(stopped),
        Either::Right((done, _)) => Ok(done),
    }
}

impl Stop {
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
