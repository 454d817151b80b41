//! Runs in PostgreSQL, which many workers share.

mod connect;
mod database;
mod failure;
mod lease;
mod migrations;
mod open;
mod query;
mod queue;
mod run;
mod settings;
mod store;
mod write;

pub use self::queue::Enqueue;
pub use self::store::PostgresStore;
