//! Runs in PostgreSQL, which many workers share.

mod backend;
mod database;
mod lease;
mod statements;
mod store;
mod worker;

pub use self::store::{PostgresStore, QueuedRun};
pub use self::worker::Worker;
