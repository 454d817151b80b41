//! Tests of the server from outside, through a client of the protocol.

mod process;
mod guided;
mod support;

mod handshake;
mod sequential;
mod store;
mod think;
