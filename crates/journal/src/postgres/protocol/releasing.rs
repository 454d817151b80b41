//! Gives leases back.

use std::sync::Arc;

use super::held::{Held, Verdict};
use super::kept::Shared;
use super::server::{Clock as _, Server};

/// A lease that is being given back.
pub(super) struct Released<S> {
    pub(super) server: Arc<S>,
    pub(super) shared: Arc<Shared>,
    pub(super) lease: Held,
    pub(super) verdict: Verdict,
}

impl<S: Server> Released<S> {
    pub(super) async fn give_back(self) {
        let server = &self.server;
        let clock = server.clock();

        // After that time, the lease has expired.
        let give_up = clock.now() + server.durations().lease;
        let mut delays = server.delays();

        while let Err(error) = server.release(self.lease, &self.verdict).await {
            let delay = delays.next().unwrap_or_default();
            if !S::is_passing(&error) || clock.now() + delay > give_up {
                break;
            }

            clock.sleep(delay).await;
        }

        self.shared.end(self.lease);
    }
}
