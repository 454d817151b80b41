//! Reasoning with the model of the host: the tool `reason`.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "the helpers of tests may, as the tests do"
)]

mod hostile;
mod killed;
mod mind;
mod replies;
mod sessions;
mod strategies;
mod support;
