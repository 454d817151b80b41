//! The lease protocol with a PostgreSQL server.

use async_trait::async_trait;

use super::claim::{Claimed, Wanted};
use super::database::Database;
use super::failure::Failure;
use super::protocol::server::SystemClock;
use super::protocol::statements::{RELEASE, RENEW};
use super::protocol::{Delays, Durations, Held, Server, Verdict, Written};
use super::write::Change;

#[async_trait]
impl Server for Database {
    type Error = Failure;
    type Wanted = Wanted;
    type Claimed = Claimed;
    type Change = Change;
    type Clock = SystemClock;

    fn clock(&self) -> SystemClock {
        SystemClock
    }

    fn durations(&self) -> Durations {
        Durations {
            lease: self.settings.lease,
            patience: self.settings.patience,
        }
    }

    fn delays(&self) -> Delays {
        Box::new(self.settings.reconnects().delays())
    }

    fn is_passing(error: &Failure) -> bool {
        error.is_passing()
    }

    async fn wake_due(&self) -> Result<Option<f64>, Failure> {
        Ok(self.wake_runs().await?)
    }

    async fn claim(&self, wanted: &Wanted, most: usize) -> Result<Vec<Claimed>, Failure> {
        Ok(self.claim_runs(wanted, most).await?)
    }

    async fn renew(&self, leases: &[Held]) -> Result<Vec<i64>, Failure> {
        let keys: Vec<i64> = leases.iter().map(|held| held.key).collect();
        let fences: Vec<i64> = leases.iter().map(|held| held.fence).collect();
        let seconds = self.settings.lease_seconds();

        let renewed = self.query(RENEW, &[&keys, &fences, &seconds]).await;
        Ok(renewed?.iter().map(|row| row.get(0)).collect())
    }

    async fn release(&self, lease: Held, verdict: &Verdict) -> Result<(), Failure> {
        let delays = self.settings.retry_seconds();
        let channel = self.names.channel();

        let released = self
            .query(
                RELEASE,
                &[
                    &lease.key,
                    &lease.fence,
                    &verdict.is_interrupted(),
                    &verdict.failure(),
                    &delays,
                    &channel,
                ],
            )
            .await;
        released.map(drop)
    }

    async fn write(&self, change: &Change) -> Result<Written, Failure> {
        self.try_to_write(change).await
    }

    async fn is_written(&self, change: &Change) -> Result<bool, Failure> {
        self.has_written(change).await
    }
}
