//! Tests of the server from outside, through a client of the protocol.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "the helpers of tests may, as the tests do"
)]

mod process;
mod support;

mod added;
mod guided;
#[cfg(feature = "http")]
mod http;
mod prompts;
mod refusals;
mod resources;
mod sequential;
mod sessions;
mod shown;
mod solve;
mod store;
mod think;
mod wire;
