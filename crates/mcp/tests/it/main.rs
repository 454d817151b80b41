//! Tests of the server from outside, through a client of the protocol.

mod support;

mod handshake;
mod sequential;
