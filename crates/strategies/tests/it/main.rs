//! The integration tests, as a single program, since linking takes longer than running most of them.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests may"
)]

mod support;

mod branches;
mod built_in;
mod growing;
mod json;
mod methods;
mod model_servers;
mod sessions;
mod snapshots;
mod steps;
mod tables;
