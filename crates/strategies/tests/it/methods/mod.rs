//! Runs of strategies with scripted models: right, wrong, empty and endless ones.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "the helpers of tests may, as the tests do"
)]

mod answers;
mod approval;
mod attempts;
mod complaints;
mod concluding;
mod endings;
mod game_of_24;
mod hostile;
mod random;
mod self_consistency;
mod shown;
pub(crate) mod support;
mod tables;
pub(crate) mod wires;
