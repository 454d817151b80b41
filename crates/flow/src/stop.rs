//! What ends a run from outside, while it waits or between two steps.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// Why a run was stopped from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stopped {
    Deadline,
    Cancelled,
}

#[derive(Debug, Default)]
pub(crate) struct Stop {
    pub(crate) deadline: Option<Instant>,
    pub(crate) token: Option<CancellationToken>,
}

impl Stop {
    /// Does the work unless the run is to stop, before or while it waits. Work that is not done is
    /// dropped. The clock is read and the token waited for only where there is one, and only once
    /// the work waits.
    pub(crate) async fn or<T>(&self, work: impl Future<Output = T>) -> Result<T, Stopped> {
        if self.token.as_ref().is_some_and(CancellationToken::is_cancelled) {
            return Err(Stopped::Cancelled);
        }
        if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return Err(Stopped::Deadline);
        }
        let mut work = pin!(work);
        let mut stopped = None;
        poll_fn(|context| {
            if let Poll::Ready(done) = work.as_mut().poll(context) {
                return Poll::Ready(Ok(done));
            }
            stopped.get_or_insert_with(|| Box::pin(self.stopped())).as_mut().poll(context).map(Err)
        })
        .await
    }

    async fn stopped(&self) -> Stopped {
        let cancelled = async {
            match &self.token {
                Some(token) => token.cancelled().await,
                None => std::future::pending().await,
            }
        };
        match self.deadline {
            None => {
                cancelled.await;
                Stopped::Cancelled
            }
            Some(deadline) => match tokio::time::timeout_at(deadline, cancelled).await {
                Ok(()) => Stopped::Cancelled,
                Err(_) => Stopped::Deadline,
            },
        }
    }
}
