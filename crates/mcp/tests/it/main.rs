//! Tests of the server from outside, through a client of the protocol.

mod process;
mod support;

mod guided;
mod handshake;
mod host;
#[cfg(feature = "http")]
mod http;
mod lifecycles;
mod prompts;
mod resources;
mod sequential;
mod solve;
mod store;
mod think;
mod wire;
