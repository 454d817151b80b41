//! Tests of the server from outside, through a client of the protocol.

mod guided;
mod process;
mod support;

mod handshake;
mod host;
#[cfg(feature = "http")]
mod http;
mod lifecycles;
mod sequential;
mod store;
mod support;
mod think;
mod wire;

mod handshake;
mod solve;
