//! What the protocol needs of the database and of the system.

use std::time::Duration;

use async_trait::async_trait;
use tokio::time::Instant;

use super::held::{Held, Verdict, Written};

/// The durations of the protocol.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Durations {
    /// How long a lease lasts unless it is renewed.
    pub(crate) lease: Duration,
    /// How long a write is repeated while the server is gone.
    pub(crate) patience: Duration,
}

/// Delays between attempts to reach a server that is gone.
pub(crate) type Delays = Box<dyn Iterator<Item = Duration> + Send + Sync>;

/// The clock of a process. Nothing depends on whether it agrees with that of the database.
#[async_trait]
pub(crate) trait Clock: Send + Sync + 'static {
    fn now(&self) -> Instant;

    async fn sleep(&self, duration: Duration);
}

/// The clock of the system.
pub(crate) struct SystemClock;

#[async_trait]
impl Clock for SystemClock {
    fn now(&self) -> Instant {
        Instant::now()
    }

    async fn sleep(&self, duration: Duration) {
        tokio::time::sleep(duration).await;
    }
}

/// The database, as one process sees it.
#[async_trait]
pub(crate) trait Server: Send + Sync + Sized + 'static {
    type Error: Send;

    /// The runs that a worker can take.
    type Wanted: Sync;

    /// A run that was taken. Its lease isn't kept yet.
    type Claimed: Send;

    type Change: Sync;

    type Clock: Clock;

    fn clock(&self) -> Self::Clock;

    fn durations(&self) -> Durations;

    fn delays(&self) -> Delays;

    /// Returns whether the same request may succeed later, because the server or the network failed.
    fn is_passing(error: &Self::Error) -> bool;

    /// Makes runs ready that are due. Returns how many seconds it takes until the next one is due.
    async fn wake_due(&self) -> Result<Option<f64>, Self::Error>;

    /// Takes up to `most` runs.
    async fn claim(
        &self,
        wanted: &Self::Wanted,
        most: usize,
    ) -> Result<Vec<Self::Claimed>, Self::Error>;

    /// Renews leases. Returns the keys of those that still exist.
    async fn renew(&self, leases: &[Held]) -> Result<Vec<i64>, Self::Error>;

    /// Gives back a lease.
    async fn release(&self, lease: Held, verdict: &Verdict) -> Result<(), Self::Error>;

    /// Writes a change, if the lease and the rows are as this process left them.
    async fn write(&self, change: &Self::Change) -> Result<Written, Self::Error>;

    /// Returns whether the change is already in the database.
    async fn is_written(&self, change: &Self::Change) -> Result<bool, Self::Error>;
}
