//! Streamable HTTP over real sockets.

mod access;
mod clients;
mod limits;
mod support;
