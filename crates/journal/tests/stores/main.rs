//! Stores of runs: what they take, what they refuse, and that nothing on record is done again.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "the helpers of tests may, as the tests do"
)]

#[cfg(feature = "sqlite")]
mod answers;
mod any;
mod child;
mod composite;
mod conformance;
mod damage;
#[cfg(feature = "sqlite")]
mod database;
mod each;
mod events;
mod failed_writes;
#[cfg(all(feature = "postgres", unix))]
mod failing_server;
mod first_state;
mod folding;
mod forking;
mod going_on;
mod gone;
mod input;
#[cfg(feature = "sqlite")]
mod kills;
mod listing;
mod locking;
mod names;
#[cfg(all(feature = "postgres", unix))]
mod own_server;
#[cfg(feature = "postgres")]
mod postgres;
mod power;
#[cfg(all(feature = "postgres", unix))]
mod proxy;
mod reading;
mod removing;
#[cfg(all(feature = "postgres", unix))]
mod restarting;
#[cfg(feature = "sqlite")]
mod schemas;
#[cfg(feature = "postgres")]
mod server;
mod times;
#[cfg(all(feature = "postgres-tls", unix))]
mod tls;
mod work;
#[cfg(feature = "postgres")]
mod workers;
