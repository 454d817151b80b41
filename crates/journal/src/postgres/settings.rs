//! The settings of a store.

use std::time::Duration;

use cogwork_text::Backoff;
use tokio_postgres::Config;

use super::connect::Encryption;

#[derive(Clone)]
pub(super) struct Settings {
    pub(super) config: Config,
    pub(super) encryption: Encryption,
    pub(super) schema: String,
    pub(super) max_connections: usize,
    pub(super) lease: Duration,
    /// How often a run that fails is tried, and the delays in between.
    pub(super) retries: Backoff,
    /// Names this process in the rows of the runs that it works on.
    pub(super) worker: String,
}

impl Settings {
    pub(super) fn new(config: Config) -> Self {
        Self {
            config,
            encryption: Encryption::None,
            schema: "cogwork".to_owned(),
            max_connections: 8,
            lease: Duration::from_secs(30),
            retries: Backoff::of::<5>()
                .with_first(Duration::from_secs(1))
                .with_factor(4.0)
                .with_ceiling(Duration::from_secs(300)),
            worker: format!("process {}", std::process::id()),
        }
    }

    /// Returns the maximum time for a statement, and for opening a connection. There has to be time for
    /// another attempt before the lease expires.
    pub(super) fn statement_timeout(&self) -> Duration {
        (self.lease / 3).max(Duration::from_secs(1))
    }

    /// Returns the delays between attempts to reach a server that is gone.
    pub(super) fn reconnects(&self) -> Reconnects {
        let growing = Backoff::of::<8>()
            .with_first(Duration::from_millis(50))
            .with_ceiling(LONGEST_RECONNECT);
        Reconnects(Box::new(growing.delays()))
    }

    /// Returns the delays in seconds after each failure but the last, for statements.
    pub(super) fn retry_seconds(&self) -> Vec<f64> {
        let delays = self.retries.with_jitter(false).delays().take(100);
        delays.map(|delay| delay.as_secs_f64()).collect()
    }
}

/// The longest delay between attempts to reach a server that is gone.
const LONGEST_RECONNECT: Duration = Duration::from_secs(1);

/// Delays between attempts to reach a server that is gone, however long it is.
pub(super) struct Reconnects(Box<dyn Iterator<Item = Duration> + Send + Sync>);

impl Reconnects {
    pub(super) fn next_delay(&mut self) -> Duration {
        self.0.next().unwrap_or(LONGEST_RECONNECT)
    }
}
