//! Takes runs again and again.

use std::sync::Arc;
use std::time::Duration;

use super::server::{Delays, Server};

/// What a worker does to get runs.
pub(crate) struct Taking<S: Server> {
    server: Arc<S>,
    /// How long to wait for a notification before looking for runs anyway.
    poll: Duration,
    delays: Delays,
}

/// The result of looking for runs once.
pub(crate) struct Round<S: Server> {
    pub(crate) claimed: Vec<S::Claimed>,
    /// How long to wait before the next round, unless something happens.
    pub(crate) pause: Duration,
    /// Why the database could not be used. Notifications don't shorten the pause then.
    pub(crate) failed: Option<S::Error>,
}

impl<S: Server> Taking<S> {
    pub(crate) fn new(server: Arc<S>, poll: Duration) -> Self {
        let delays = server.delays();
        Self {
            server,
            poll,
            delays,
        }
    }

    /// Takes up to `room` runs.
    pub(crate) async fn round(&mut self, wanted: &S::Wanted, room: usize) -> Round<S> {
        match self.take(wanted, room).await {
            Ok(round) => {
                self.delays = self.server.delays();
                round
            }
            Err(error) => Round {
                claimed: Vec::new(),
                pause: self.delays.next().unwrap_or(self.poll),
                failed: Some(error),
            },
        }
    }

    async fn take(&self, wanted: &S::Wanted, room: usize) -> Result<Round<S>, S::Error> {
        let due = self.server.wake_due().await?;
        let claimed = if room > 0 {
            self.server.claim(wanted, room).await?
        } else {
            Vec::new()
        };

        let due = due.and_then(|due| Duration::try_from_secs_f64(due.max(0.001)).ok());
        Ok(Round {
            claimed,
            pause: due.unwrap_or(self.poll).min(self.poll),
            failed: None,
        })
    }
}
