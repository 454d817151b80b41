//! Sessions in memory and in a database, and what can be wrong with the database.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used
)]

mod files;
mod killed;
mod locked;
mod others;
mod support;
