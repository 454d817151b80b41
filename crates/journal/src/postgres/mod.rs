//! Runs in PostgreSQL, which many workers share.

mod claim;
mod column;
mod connect;
mod database;
mod enqueue;
mod failure;
mod lease;
mod listen;
mod migrations;
mod names;
mod new_waits;
mod open;
mod protocol;
mod query;
mod queue;
mod queue_query;
mod registered;
mod row;
mod run;
mod settings;
mod store;
mod worker;
mod write;

pub use self::enqueue::Enqueue;
pub use self::queue::QueueLimits;
pub use self::queue_query::{QueueQuery, QueuedRun};
pub use self::store::PostgresStore;
pub use self::worker::{Worker, WorkerEvent};
