//! Renews leases until there are none.

use std::sync::{Arc, Weak};
use std::time::Duration;

use super::kept::Shared;
use super::server::{Clock as _, Server};
use crate::mutex::lock;

/// Renews all leases of a process.
pub(super) struct Renewing<S> {
    server: Weak<S>,
    shared: Arc<Shared>,
    /// Whether there is nothing left to renew.
    is_done: bool,
}

impl<S: Server> Renewing<S> {
    pub(super) fn new(server: Weak<S>, shared: Arc<Shared>) -> Self {
        Self {
            server,
            shared,
            is_done: false,
        }
    }

    pub(super) async fn run(mut self, clock: S::Clock, lease: Duration) {
        let every = lease / 3;
        let mut pause = every;

        loop {
            clock.sleep(pause).await;
            let Some(server) = self.server.upgrade() else {
                return;
            };

            let leases = {
                let mut kept = lock(&self.shared.kept);
                if kept.by_key.is_empty() {
                    kept.is_renewed = false;
                    self.is_done = true;
                    return;
                }
                kept.to_renew()
            };

            // While the server is gone, the next attempt must come soon.
            pause = match server.renew(&leases).await {
                Ok(renewed) => {
                    lock(&self.shared.kept).cancel_lost(&leases, &renewed);
                    every
                }
                Err(_) => every / 4,
            };
        }
    }
}

/// A runtime that shuts down drops the task. The next lease starts a new one.
impl<S> Drop for Renewing<S> {
    fn drop(&mut self) {
        if !self.is_done {
            lock(&self.shared.kept).is_renewed = false;
        }
    }
}
