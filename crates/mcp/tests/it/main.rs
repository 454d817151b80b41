//! Tests of the server from outside, through a client of the protocol.

mod process;
mod guided;
mod support;

mod handshake;
#[cfg(feature = "http")]
mod http;
mod lifecycles;
mod sequential;
mod store;
mod think;
mod wire;
