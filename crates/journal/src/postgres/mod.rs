//! Runs in PostgreSQL, which many workers share.

mod backend;
mod claim;
mod connect;
mod database;
mod failure;
mod lease;
mod listen;
mod names;
mod queue;
mod registered;
mod run;
mod settings;
mod statements;
mod store;
mod tables;
mod worker;

pub use self::queue::QueuedRun;
pub use self::store::PostgresStore;
pub use self::worker::{Worker, WorkerEvent};
