//! How often a server is started again, and after which delays.

use std::time::Duration;

use cogwork_backoff::Backoff;

/// Counts the starts of a server since its last success.
pub(super) struct Restarts {
    settings: Backoff,
    has_started: bool,
    /// The delays before the next starts; `None` if the next one needs no delay.
    delays: Option<Box<dyn Iterator<Item = Duration> + Send>>,
}

impl Restarts {
    pub(super) fn new(settings: Backoff) -> Self {
        Self {
            settings,
            has_started: false,
            delays: None,
        }
    }

    /// Returns the delay before the next start, or `None` if there is to be no other.
    pub(super) fn next(&mut self) -> Option<Duration> {
        if !self.has_started {
            self.has_started = true;
            return Some(Duration::ZERO);
        }

        match &mut self.delays {
            Some(delays) => delays.next(),
            None => {
                self.delays = Some(Box::new(self.settings.delays()));
                Some(Duration::ZERO)
            }
        }
    }

    /// Begins again, because the server works.
    pub(super) fn succeeded(&mut self) {
        self.delays = None;
    }
}
