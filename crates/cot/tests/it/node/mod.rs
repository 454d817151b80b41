//! The chain-of-thought node: its turns, its state, and what it reports.
// Clippy knows tests by their attribute, and so takes the helpers of a test for library code.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

mod asking_again;
mod budgets;
mod concluding;
#[cfg(feature = "console")]
mod console;
mod constrained;
mod early_end;
mod events;
mod journaled;
mod limits;
mod mocking;
mod model_servers;
#[cfg(feature = "console")]
mod repairing;
#[cfg(feature = "console")]
mod reporting;
mod saving;
mod sequences;
#[cfg(feature = "console")]
mod shown;
mod streaming;
mod support;
mod tools;
mod tools_in_replies;
mod tools_journaled;
mod turns;
