//! Sessions in memory and in a database, and what can be wrong with the database.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used
)]

mod both;
mod files;
#[cfg(unix)]
mod full;
mod killed;
mod locked;
mod memory;
mod others;
mod support;
mod vanished;
