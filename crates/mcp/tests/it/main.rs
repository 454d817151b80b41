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
mod host;
#[cfg(feature = "http")]
mod http;
mod lifecycles;
mod prompts;
mod resources;
mod sequential;
mod shown;
mod solve;
mod store;
mod think;
mod wire;
