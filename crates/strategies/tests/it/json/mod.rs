//! Replies that are requested as JSON: their schemas and prompts, runs of every strategy, servers
//! that refuse a form, and malformed replies.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "the helpers of tests may, as the tests do"
)]

mod malformed;
mod refused;
mod runs;
pub(crate) mod scripts;
