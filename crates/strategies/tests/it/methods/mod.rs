//! Runs of strategies with scripted models: right, wrong, empty and endless ones.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "the helpers of tests may, as the tests do"
)]

mod answers;
mod attempts;
mod chain_of_thought;
mod concluding;
mod hostile;
mod legal;
mod linear;
mod react;
mod rewoo;
mod scratchpad;
mod self_ask;
mod self_consistency;
mod shown;
mod step_back;
pub(crate) mod support;
mod tables;
mod tree_of_thoughts;
