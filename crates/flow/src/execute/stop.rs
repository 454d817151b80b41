//! Stops a run from outside, while it waits or between two steps.

use std::future::{pending, poll_fn};
use std::pin::Pin;
use std::task::Poll;

use futures_util::FutureExt;
use tokio::time::{Instant, sleep_until, timeout_at};
use tokio_util::sync::CancellationToken;

use super::failure::Stopped;
use crate::boxed::BoxFuture;

#[derive(Debug, Default)]
pub(crate) struct Stop {
    pub(crate) deadline: Option<Instant>,
    pub(crate) token: Option<CancellationToken>,
}

/// Runs `work` unless the run has to stop, before or while it waits.
///
/// The work is passed pinned, because passing it by value would take twice the space.
pub(crate) fn unless_stopped<T>(
    stop: Option<&Stop>,
    mut work: Pin<&mut impl Future<Output = T>>,
) -> impl Future<Output = Result<T, Stopped>> {
    let mut stopped = stop.map(Stop::stopped);

    poll_fn(move |context| {
        // Before the work, so that a run that was cancelled takes no further step.
        if let Some(stopped) = &mut stopped
            && let Poll::Ready(why) = stopped.as_mut().poll(context)
        {
            return Poll::Ready(Err(why));
        }

        work.as_mut().poll(context).map(Ok)
    })
}

impl Stop {
    /// Most runs have a token alone, and so a small future.
    fn stopped(&self) -> BoxFuture<'_, Stopped> {
        let cancelled = self.token.as_ref().map(CancellationToken::cancelled);

        match (cancelled, self.deadline) {
            (Some(cancelled), None) => Box::pin(cancelled.map(|()| Stopped::Cancelled)),
            (Some(cancelled), Some(deadline)) => Box::pin(async move {
                match timeout_at(deadline, cancelled).await {
                    Ok(()) => Stopped::Cancelled,
                    Err(_) => Stopped::Deadline,
                }
            }),
            (None, Some(deadline)) => Box::pin(sleep_until(deadline).map(|()| Stopped::Deadline)),
            (None, None) => Box::pin(pending()),
        }
    }
}
